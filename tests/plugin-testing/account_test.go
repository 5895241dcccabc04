package plugintesting

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
)

const role = "joiner_irsa_role.this"

func irsaRole(t *testing.T, name, more string) string {
	return fmt.Sprintf(`
resource "joiner_irsa_role" "this" {
  name              = %q
  cluster_name      = "tested"
  oidc_provider_arn = %q
  %s
}
`, name, setting(t, "JOINER_OIDC_PROVIDER"), more)
}

// TestIrsaRole creates, changes, imports and renames the controller's role.
func TestIrsaRole(t *testing.T) {
	arn := regexp.MustCompile(`^arn:aws:iam::\d{12}:role/plugin-tested$`)
	resource.ParallelTest(t, resource.TestCase{
		ExternalProviders: providers(),
		Steps: []resource.TestStep{
			{
				Config: irsaRole(t, "plugin-tested", ""),
				ConfigPlanChecks: planned(role, plancheck.ResourceActionCreate,
					plancheck.ExpectUnknownValue(role, tfjsonpath.New("arn"))),
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownValue(role, tfjsonpath.New("arn"), knownvalue.StringRegexp(arn)),
					statecheck.ExpectKnownValue(role, tfjsonpath.New("service_account"), knownvalue.StringExact("joiner")),
				},
			},
			{
				ResourceName:    role,
				ImportState:     true,
				ImportStateKind: resource.ImportBlockWithID,
				ImportStateId:   "plugin-tested",
			},
			{
				Config:           irsaRole(t, "plugin-tested", `tags = { team = "a" }`),
				ConfigPlanChecks: planned(role, plancheck.ResourceActionUpdate),
			},
			{
				Config:           irsaRole(t, "plugin-renamed", `tags = { team = "a" }`),
				ConfigPlanChecks: planned(role, plancheck.ResourceActionDestroyBeforeCreate),
			},
		},
	})
}

// TestFunctions calls functions and a data source that need neither cluster nor account.
func TestFunctions(t *testing.T) {
	resource.ParallelTest(t, resource.TestCase{
		ExternalProviders: providers(),
		Steps: []resource.TestStep{
			{
				Config: `
output "duration" {
  value = provider::joiner::normalize_duration("90m")
}
output "wrong" {
  value = can(provider::joiner::normalize_duration("soon"))
}
data "joiner_versions" "this" {}
`,
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownOutputValue("duration", knownvalue.StringExact("1h30m0s")),
					statecheck.ExpectKnownOutputValue("wrong", knownvalue.Bool(false)),
				},
			},
		},
	})
}
