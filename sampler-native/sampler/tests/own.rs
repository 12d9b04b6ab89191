//! flametop does not sample itself. A test program of its own, so that no other session's symbolizer is its child.

#[allow(dead_code)]
mod model;

use model::Recording;

#[test]
fn own_process_and_symbolizer_are_not_in_the_stream() {
    let mut recording = Recording::open("target=all");
    recording.run(19, 300);
    recording.name_all();
    recording.run(19, 800);
    let own = std::process::id();
    let model = &recording.model;
    assert_eq!(model.tasks_of(own).count(), 0);
    assert!(!model.names.is_empty());
    let live = model.tasks.iter().filter(|t| t.gone.is_none());
    let children: Vec<u32> = live
        .map(|t| t.tid)
        .filter(|tid| parent(*tid) == Some(own))
        .collect();
    assert_eq!(children, [0; 0], "the symbolizer is left out once it runs");
    assert!(recording.model.own_cpu > 0);
}

fn parent(tid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{tid}/stat")).ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_ascii_whitespace().nth(1)?.parse().ok()
}
