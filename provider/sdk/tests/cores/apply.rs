//! Apply, plan again, change, replace, destroy.

use crate::workspace::{Workspace, cores};

const FULL: &str = r#"
resource "terraform_data" "cluster" {
  input = "x"
}
provider "folder" {
  folder = "DATA-${terraform_data.cluster.id}"
}
resource "folder_thing" "a" {
  name   = "a"
  size   = 123456789012345678901234567890.5
  life   = "60m"
  labels = { "x/y" = "z" }
  spec = {
    parts = [{ kind = "wheel" }, { kind = "axle", count = 2 }]
    named = { left = { kind = "door", mark = "own" } }
  }
  extra = { any = [1, "two", true] }
}
output "size" {
  value = folder_thing.a.size
}
"#;

#[test]
fn one_apply_with_a_provider_that_is_unknown_at_plan_and_then_no_changes() {
    for core in cores() {
        let workspace = Workspace::new(&core, FULL);
        let text = workspace.apply().succeeded("apply");
        assert!(text.contains("2 added, 0 changed"), "{text}");
        assert!(text.contains("size = 123456789012345678901234567890.5"), "{text}");
        assert_eq!(workspace.things(), ["a"]);
        let thing = workspace.thing();
        assert_eq!(
            thing["spec"]["parts"][1],
            serde_json::json!({"kind": "axle", "count": 2, "mark": "AXLE"})
        );
        assert_eq!(thing["spec"]["weight"], 4);
        workspace.plan().succeeded("second plan");
        workspace.refresh_only().succeeded("a look for drift");

        workspace.write(&FULL.replace("60m", "1h"));
        workspace.plan().succeeded("a plan with another spelling");
        workspace.write(&FULL.replace("\"z\"", "\"w\""));
        let text = workspace.apply().succeeded("update");
        assert!(text.contains("0 added, 1 changed"), "{text}");
        assert_eq!(workspace.thing()["revision"], 2);

        workspace.destroy().succeeded("destroy");
        assert_eq!(workspace.things(), [""; 0]);
    }
}

#[test]
fn a_replaced_cluster_gets_its_things_again() {
    for core in cores() {
        let workspace = Workspace::new(&core, FULL);
        workspace.apply().succeeded("apply");
        let replace = [
            "apply",
            "-auto-approve",
            "-no-color",
            "-replace=terraform_data.cluster",
        ];
        let text = workspace.run(&replace).succeeded("replace");
        assert!(text.contains("1 added, 1 changed, 1 destroyed"), "{text}");
        assert_eq!(
            workspace.things(),
            ["a", "a"],
            "the old cluster keeps its own, the new one has it too"
        );
        workspace.plan().succeeded("plan after it");
    }
}

#[test]
fn a_new_name_replaces_the_thing() {
    for core in cores() {
        let simple = "provider \"folder\" {\n  folder = \"DATA\"\n}\nresource \"folder_thing\" \"a\" {\n  name = \"a\"\n}\n";
        let workspace = Workspace::new(&core, simple);
        workspace.apply().succeeded("apply");
        workspace.write(&simple.replace("name = \"a\"", "name = \"b\""));
        let text = workspace.apply().succeeded("replace");
        assert!(
            text.contains("forces replacement") && text.contains("1 added, 0 changed, 1 destroyed"),
            "{text}"
        );
        assert_eq!(workspace.things(), ["b"]);

        std::fs::remove_dir_all(workspace.path("data")).unwrap();
        let text = workspace.apply().succeeded("create anew");
        assert!(text.contains("1 added"), "{text}");
    }
}

#[test]
fn works_without_tls() {
    for core in cores() {
        let mut workspace = Workspace::new(&core, FULL);
        workspace.set("TF_DISABLE_PLUGIN_TLS", "1");
        workspace.apply().succeeded("apply");
        workspace.plan().succeeded("second plan");
        workspace.destroy().succeeded("destroy");
    }
}

#[test]
fn works_over_tcp() {
    for core in cores() {
        let mut workspace = Workspace::new(&core, FULL);
        workspace.set("TFPLUGIN_TRANSPORT", "tcp");
        workspace.apply().succeeded("apply");
        workspace.plan().succeeded("second plan");
    }
}

#[test]
fn imports_by_block() {
    for core in cores() {
        let provider = "provider \"folder\" {\n  folder = \"DATA\"\n}\n";
        let thing = "resource \"folder_thing\" \"a\" {\n  name = \"a\"\n}\n";
        let workspace = Workspace::new(&core, &format!("{provider}{thing}"));
        workspace.apply().succeeded("apply");
        let removed = "removed {\n  from = folder_thing.a\n  lifecycle {\n    destroy = false\n  }\n}\n";
        workspace.write(&format!("{provider}{removed}"));
        workspace.apply().succeeded("forget");
        assert_eq!(workspace.things(), ["a"]);
        workspace.write(&format!(
            "{provider}{thing}import {{\n  to = folder_thing.a\n  id = \"a\"\n}}\n"
        ));
        let text = workspace.apply().succeeded("import");
        assert!(text.contains("1 imported, 0 added, 0 changed"), "{text}");
        workspace.plan().succeeded("plan after it");
    }
}
