use std::time::Instant;
use joiner_api::rules::*;
fn main(){
    for (k,f) in [(Kind::NodePool,"NodePool"),(Kind::EC2NodeClass,"EC2NodeClass")] {
        let o: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(format!("/tmp/api/{f}.json")).unwrap()).unwrap();
        let t=Instant::now(); let v=check(k,&o,&UnknownPaths::none(),None); println!("{f} first {:?} {:?}",t.elapsed(), v);
        let t=Instant::now(); for _ in 0..100 {check(k,&o,&UnknownPaths::none(),None);} println!("{f} 100x {:?}",t.elapsed());
    }
    let t=Instant::now(); joiner_api::crds(); println!("crds {:?}",t.elapsed());
}
