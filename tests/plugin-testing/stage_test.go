// Package plugintesting holds acceptance tests as authors of providers in Go write them. The provider is an external one: the built
// program, which the core installs from a mirror. What they stand on comes by the environment, from tests/tests/plugin_testing.rs.
package plugintesting

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
)

// setting is a variable that the runner sets.
func setting(t *testing.T, name string) string {
	t.Helper()
	value := os.Getenv(name)
	if value == "" {
		t.Fatalf("%s is not set; run `cargo test -p joiner-tests --test end_to_end plugin_testing`", name)
	}
	return value
}

// providers installs the provider under test.
func providers() map[string]resource.ExternalProvider {
	return map[string]resource.ExternalProvider{"joiner": {Source: "joiner-dev/joiner"}}
}

// inCluster is a configuration with the provider set up for the test's cluster.
func inCluster(t *testing.T, body string) string {
	return fmt.Sprintf("provider \"joiner\" {\n  kubernetes = { config_path = %q }\n}\n%s", setting(t, "JOINER_KUBECONFIG"), body)
}

func kubectl(t *testing.T, arguments ...string) string {
	t.Helper()
	answer, err := tryKubectl(setting(t, "JOINER_KUBECTL"), setting(t, "JOINER_KUBECONFIG"), arguments...)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

func tryKubectl(program, kubeconfig string, arguments ...string) (string, error) {
	command := exec.Command(program, arguments...)
	command.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig)
	answer, err := command.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("kubectl %s: %w: %s", strings.Join(arguments, " "), err, answer)
	}
	return strings.TrimSpace(string(answer)), nil
}

// gone checks at the end of a test that the cluster has no object of this kind and name any more.
func gone(t *testing.T, kind, name string) resource.TestCheckFunc {
	return func(*terraform.State) error {
		answer := kubectl(t, "get", kind, name, "--ignore-not-found", "-o", "name")
		if answer != "" {
			return fmt.Errorf("%s is still there", answer)
		}
		return nil
	}
}
