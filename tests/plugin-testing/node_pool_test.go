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

const pool = "joiner_node_pool.this"

func nodePool(t *testing.T, name, operator, more string) string {
	return inCluster(t, fmt.Sprintf(`
resource "joiner_node_pool" "this" {
  name = %q
  wait = { ready = false }
  template = {
    spec = {
      node_class_ref = { name = "some" }
      requirements   = [{ key = "kubernetes.io/arch", operator = %q, values = ["arm64", "amd64"] }]
    }
  }
  %s
}
`, name, operator, more))
}

// planned requires the action of a step's plan.
func planned(address string, action plancheck.ResourceActionType, more ...plancheck.PlanCheck) resource.ConfigPlanChecks {
	return resource.ConfigPlanChecks{PreApply: append(more, plancheck.ExpectResourceAction(address, action))}
}

// TestNodePool creates, changes, replaces and imports a pool. After each step the library requires that a plan is empty.
func TestNodePool(t *testing.T) {
	resource.ParallelTest(t, resource.TestCase{
		ExternalProviders: providers(),
		CheckDestroy:      gone(t, "nodepool", "tested"),
		Steps: []resource.TestStep{
			{
				Config: nodePool(t, "tested", "In", `limits = { cpu = "1000m" }`),
				ConfigPlanChecks: planned(pool, plancheck.ResourceActionCreate,
					plancheck.ExpectUnknownValue(pool, tfjsonpath.New("uid")),
					plancheck.ExpectKnownValue(pool, tfjsonpath.New("disruption").AtMapKey("consolidate_after"), knownvalue.StringExact("0s"))),
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownValue(pool, tfjsonpath.New("id"), knownvalue.StringExact("tested")),
					statecheck.ExpectKnownValue(pool, tfjsonpath.New("uid"), knownvalue.NotNull()),
					statecheck.ExpectKnownValue(pool, tfjsonpath.New("limits").AtMapKey("cpu"), knownvalue.StringExact("1000m")),
				},
			},
			{
				Config:           nodePool(t, "tested", "In", "limits = { cpu = \"2\" }\n  weight = 5"),
				ConfigPlanChecks: planned(pool, plancheck.ResourceActionUpdate),
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownValue(pool, tfjsonpath.New("weight"), knownvalue.Int64Exact(5)),
				},
			},
			{
				ResourceName:      pool,
				ImportState:       true,
				ImportStateId:     "tested",
				ImportStateVerify: true,
				// What an object does not tell, since only the provider knows it.
				ImportStateVerifyIgnore: []string{"wait", "wait.%", "wait.ready", "wait.timeout", "adopt"},
			},
			{
				// The same in other words is no change.
				Config:   nodePool(t, "tested", "In", "limits = { cpu = \"2000m\" }\n  weight = 5"),
				PlanOnly: true,
			},
			{
				Config:           nodePool(t, "tested", "In", "replicas = 2"),
				ConfigPlanChecks: planned(pool, plancheck.ResourceActionDestroyBeforeCreate),
			},
		},
	})
}

// TestNodePoolDrift sees what somebody changed in the cluster, and sets it right.
func TestNodePoolDrift(t *testing.T) {
	config := nodePool(t, "drifting", "In", "weight = 5\n  force_conflicts = true")
	resource.ParallelTest(t, resource.TestCase{
		ExternalProviders: providers(),
		CheckDestroy:      gone(t, "nodepool", "drifting"),
		Steps: []resource.TestStep{
			{Config: config},
			{
				PreConfig: func() {
					kubectl(t, "patch", "nodepool", "drifting", "--type=merge", "-p", `{"spec":{"weight":50}}`)
				},
				RefreshState:       true,
				ExpectNonEmptyPlan: true,
			},
			{
				Config:           config,
				ConfigPlanChecks: planned(pool, plancheck.ResourceActionUpdate),
			},
			{
				// One that is gone is made anew.
				PreConfig:        func() { kubectl(t, "delete", "nodepool", "drifting") },
				Config:           config,
				ConfigPlanChecks: planned(pool, plancheck.ResourceActionCreate),
			},
		},
	})
}

// TestWrongNodePool is refused before anything is made.
func TestWrongNodePool(t *testing.T) {
	resource.ParallelTest(t, resource.TestCase{
		ExternalProviders: providers(),
		CheckDestroy:      gone(t, "nodepool", "wrong"),
		Steps: []resource.TestStep{
			{
				Config:      nodePool(t, "wrong", "Inn", ""),
				ExpectError: regexp.MustCompile(`did you mean\s+"In"`),
			},
			{
				Config:      nodePool(t, "wrong", "In", "weight = 101"),
				ExpectError: regexp.MustCompile(`1\s+to\s+100`),
			},
		},
	})
}
