//! What a function of the kernel calls. Where a kernel has no graphs for one program alone, its words are tested.

use std::ops::Range;

use flametop_events::Tracefs;
use flametop_kernel::graph::{self, Graph, Spent};

use super::{events::Scene, kernel_functions::symbol, *};

const FUNCTION: &str = "vfs_write";

fn draw(kernel: &Kernel, depth: Option<u32>) -> Result<Graph, String> {
    Graph::start(&[FUNCTION.to_owned()], depth, kernel.settings()).map_err(|why| format!("{why:#}"))
}

/// A graph of the scene's program, or nothing where this kernel refuses it in words.
fn graph(scene: &Scene, depth: Option<u32>) -> Option<Graph> {
    let lockdown = std::fs::read_to_string("/sys/kernel/security/lockdown").unwrap_or_default();
    let tracers = Tracefs::open().and_then(|tracefs| tracefs.read("available_tracers"));
    let words = if lockdown.contains("[confidentiality]") {
        "lockdown (confidentiality) forbids the kernel's tracer; boot with lockdown=integrity"
    } else if !tracers.unwrap_or_default().contains("function_graph") {
        "boot a kernel built with CONFIG_FUNCTION_GRAPH_TRACER=y"
    } else if is_older_than(6, 11) {
        "boot Linux 6.11 or newer"
    } else {
        return Some(draw(&scene.kernel, depth).unwrap());
    };
    let why = draw(&scene.kernel, depth).err().unwrap();
    println!("refused: {why}");
    assert!(why.contains(words), "{why}");
    None
}

fn is_older_than(major: u32, minor: u32) -> bool {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    let mut parts = release
        .split('.')
        .map(|part| part.parse::<u32>().unwrap_or(0));
    (parts.next().unwrap(), parts.next().unwrap()) < (major, minor)
}

/// What tracefs has of graphs and of us.
fn traces() -> String {
    let Ok(tracefs) = Tracefs::open() else {
        return String::new();
    };
    let read = |file| tracefs.read(file).unwrap_or_default();
    format!(
        "{:?} {} {} {} {}",
        tracefs.folders("instances").unwrap_or_default(),
        read("set_graph_function"),
        read("max_graph_depth"),
        read("current_tracer"),
        read("enabled_functions"),
    )
}

/// The calls of a program that has done its thing.
fn calls(scene: &mut Scene, graph: &mut Graph, due: usize) -> (Vec<Spent>, Vec<u64>) {
    scene.run();
    let (mut spent, mut whole) = (Vec::new(), Vec::new());
    wait_until(|| {
        graph.read().unwrap();
        spent.extend(graph.take_spent());
        whole.extend(graph.take_whole().iter().map(|whole| whole.nanos));
        whole.len() >= due
    });
    (spent, whole)
}

#[test]
fn graph_times_of_all_paths_add_up_to_the_calls_and_nothing_is_left_behind() {
    let Some(_alone) = alone() else { return };
    let count = 300;
    let before = traces();
    let mut scene = Scene::open(&["writes", &count.to_string()]);
    let Some(mut graph) = graph(&scene, None) else {
        assert_eq!(traces(), before);
        return;
    };
    let why = draw(&scene.kernel, None).err().unwrap();
    assert!(why.contains("draws function graphs already"), "{why}");
    let (spent, whole) = calls(&mut scene, &mut graph, count);
    assert_eq!(graph.lost(), 0);
    let places: Vec<Range<u64>> = [FUNCTION, "write_null"].map(symbol).into();
    // What the program says is written, too.
    assert!(
        (count..count + 20).contains(&whole.len()),
        "{}",
        whole.len()
    );
    let sum: u64 = spent.iter().map(|spent| spent.nanos).sum();
    assert_eq!(sum, whole.iter().sum::<u64>());
    for spent in &spent {
        assert_eq!(spent.tid, scene.subject.pid());
        assert!(places[0].contains(spent.path.last().unwrap()), "{spent:x?}");
    }
    let below: Vec<&Spent> = spent
        .iter()
        .filter(|s| s.path.len() == 2 && places[1].contains(&s.path[0]))
        .collect();
    assert!(!below.is_empty(), "{spent:x?}");
    assert!(graph.records() >= 4 * count as u64);
    drop(graph);
    wait_until(|| traces() == before);
}

#[test]
fn graph_of_one_call_has_the_function_alone() {
    let Some(_alone) = alone() else { return };
    let mut scene = Scene::open(&["writes", "100"]);
    let Some(mut graph) = graph(&scene, Some(1)) else {
        return;
    };
    let (spent, whole) = calls(&mut scene, &mut graph, 100);
    assert!(
        spent.iter().all(|spent| spent.path.len() == 1),
        "{spent:x?}"
    );
    assert_eq!(graph.records(), 2 * whole.len() as u64);
}

/// A process of its own, which the next test kills.
#[test]
#[ignore = "the next test starts it"]
fn graph_that_is_killed() {
    let scene = Scene::open(&["writes", "1"]);
    let graph = graph(&scene, None);
    let guard = graph.as_ref().and_then(Graph::guard).unwrap_or(0);
    println!("guard {guard}");
    std::thread::sleep(PATIENCE);
}

#[test]
fn graph_of_a_killed_process_is_removed_by_one_that_survives_or_by_the_next_start() {
    let Some(_alone) = alone() else { return };
    let scene = Scene::open(&["writes", "1"]);
    let before = traces();
    if graph(&scene, None).is_none() {
        return;
    }
    for guard_too in [false, true] {
        wait_until(|| traces() == before);
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "--ignored",
                "--nocapture",
                "graph::graph_that_is_killed",
            ])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let guard = lines.find_map(|line| Some(line.unwrap().split_once("guard ")?.1.to_owned()));
        assert_ne!(traces(), before);
        if guard_too {
            let killed = Command::new("kill").args(["-9", &guard.unwrap()]).status();
            assert!(killed.unwrap().success());
        }
        child.kill().unwrap();
        child.wait().unwrap();
        if guard_too {
            assert_ne!(traces(), before);
            graph::sweep();
            assert_eq!(traces(), before);
        } else {
            wait_until(|| traces() == before);
        }
    }
}
