//! Functions, data sources, ephemeral resources and write-only attributes.

use crate::workspace::{Workspace, cores};

const ALL: &str = r#"
provider "folder" {
  folder = "DATA"
}
ephemeral "folder_token" "t" {
  audience = "thing"
}
resource "folder_thing" "a" {
  name           = "a"
  secret         = ephemeral.folder_token.t.token
  secret_version = 1
}
data "folder_thing" "a" {
  name = folder_thing.a.name

  depends_on = [folder_thing.a]
}
output "revision" {
  value = data.folder_thing.a.revision
}
output "shout" {
  value = provider::folder::shout("a", "b", "c")
}
"#;

#[test]
fn all_kinds_work_together_and_secrets_are_stored_nowhere() {
    for core in cores() {
        let workspace = Workspace::new(&core, ALL);
        let text = workspace.apply().succeeded("apply");
        assert!(
            text.contains("revision = 1") && text.contains("shout    = \"A B C\""),
            "{text}"
        );
        let thing = workspace.thing();
        assert_eq!(thing["secret_length"], "token-for-thing".len());
        assert!(thing["secret"].is_null(), "{thing}");
        let state = std::fs::read_to_string(workspace.path("terraform.tfstate")).unwrap();
        assert!(!state.contains("token-for-thing"), "{state}");
        workspace.plan().succeeded("second plan");
        workspace.write(&ALL.replace("secret_version = 1", "secret_version = 2"));
        let text = workspace.apply().succeeded("a new secret");
        assert!(text.contains("0 added, 1 changed"), "{text}");
    }
}

#[test]
fn function_errors_name_the_argument() {
    for core in cores() {
        let output = "output \"x\" {\n  value = provider::folder::shout(\"a\", \"\")\n}\n";
        Workspace::new(&core, output)
            .plan()
            .failed_with("nothing to shout");
    }
}
