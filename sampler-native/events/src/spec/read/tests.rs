use super::*;

fn spec(text: &str) -> Spec {
    text.parse().unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn name(text: &str) -> Pattern {
    Pattern::parse(text).expect(text)
}

#[test]
fn each_kind_of_source_is_read() {
    let libc = "/usr/lib/libc.so.6";
    for (text, source) in [
        (
            "fault",
            Source::Counter {
                counter: Counter::Fault,
                period: None,
            },
        ),
        (
            "cycles:10k",
            Source::Counter {
                counter: Counter::Cycles,
                period: Some(10_000),
            },
        ),
        (
            "usdt:/usr/lib/libc.so.6:libc:setjmp",
            Source::Usdt {
                file: Some(libc.to_owned()),
                provider: name("libc"),
                name: name("setjmp"),
            },
        ),
        (
            "usdt:hotspot:gc__*",
            Source::Usdt {
                file: None,
                provider: name("hotspot"),
                name: name("gc__*"),
            },
        ),
        (
            "uprobe:/usr/lib/libc.so.6:malloc",
            Source::User {
                file: libc.to_owned(),
                place: Place {
                    function: name("malloc"),
                    offset: 0,
                },
                returns: false,
            },
        ),
        (
            "uprobe:a\\:b:f+0x1f",
            Source::User {
                file: "a:b".to_owned(),
                place: Place {
                    function: name("f"),
                    offset: 31,
                },
                returns: false,
            },
        ),
        (
            "uretprobe:x:ns::f(int, char)",
            Source::User {
                file: "x".to_owned(),
                place: Place {
                    function: name("ns::f(int, char)"),
                    offset: 0,
                },
                returns: true,
            },
        ),
        (
            "kprobe:/^tcp_(send|recv)msg$/",
            Source::Kernel {
                place: Place {
                    function: name("/^tcp_(send|recv)msg$/"),
                    offset: 0,
                },
                returns: false,
            },
        ),
        (
            "tracepoint:sched:sched_switch",
            Source::Tracepoint {
                category: name("sched"),
                name: name("sched_switch"),
                filter: None,
            },
        ),
        (
            "tracepoint:syscalls:sys_enter_read/count > 4096 && fd == 1/",
            Source::Tracepoint {
                category: name("syscalls"),
                name: name("sys_enter_read"),
                filter: Some("count > 4096 && fd == 1".to_owned()),
            },
        ),
        (
            "graph:vfs_read,depth=5",
            Source::Graph {
                function: name("vfs_read"),
                depth: Some(5),
            },
        ),
        ("longjmp", Source::Jumps { file: None }),
        (
            "longjmp:/opt/a\\:b",
            Source::Jumps {
                file: Some("/opt/a:b".to_owned()),
            },
        ),
        ("wake", Source::Wake),
        ("irqsoff", Source::IrqsOff),
        ("lock", Source::Lock),
    ] {
        let read = spec(text);
        assert_eq!(read.source, source, "{text}");
        assert_eq!(read.text, text);
    }
}

#[test]
fn a_weight_has_its_unit() {
    for (text, weight, unit) in [
        ("fault", Weight::Hits, Unit::Count),
        ("fault,weight=bytes", Weight::Bytes, Unit::Bytes),
        ("usdt:a:b,weight=arg2", Weight::Argument(2), Unit::Count),
        (
            "usdt:a:b,weight=arg2,unit=bytes",
            Weight::Argument(2),
            Unit::Bytes,
        ),
        ("uretprobe:f:g,weight=dur", Weight::Duration, Unit::Nanos),
        (
            "uretprobe:f:g,weight=ret,unit=bytes",
            Weight::Returned,
            Unit::Bytes,
        ),
        ("kretprobe:g,weight=dur", Weight::Duration, Unit::Nanos),
        (
            "tracepoint:block:block_rq_issue/bytes>0/,weight=bytes",
            Weight::Field("bytes".to_owned()),
            Unit::Bytes,
        ),
        (
            "tracepoint:sched:sched_stat_runtime,unit=ns,weight=runtime",
            Weight::Field("runtime".to_owned()),
            Unit::Nanos,
        ),
        ("wake", Weight::Duration, Unit::Waits),
        ("graph:f", Weight::Duration, Unit::Nanos),
    ] {
        let read = spec(text);
        assert_eq!((read.weight, read.unit), (weight, unit), "{text}");
    }
}

#[test]
fn what_cannot_be_read_says_where_and_why() {
    for (text, error) in [
        (
            "",
            "column 1: a source is missing; flametop events lists them",
        ),
        (
            "falt",
            "column 1: no source is called falt; did you mean fault?",
        ),
        (
            "usdt",
            "column 5: PROVIDER:NAME or FILE:PROVIDER:NAME is missing",
        ),
        ("usdt:a", "column 7: PROVIDER:NAME is missing"),
        ("usdt:a:", "column 8: the name of the probe is missing"),
        (
            "uprobe:/bin/x",
            "column 14: FUNCTION is missing: FILE:FUNCTION",
        ),
        ("uprobe::f", "column 8: the file is missing"),
        (
            "uprobe:é:",
            "column 10: the name of the function is missing",
        ),
        ("uretprobe:x:f+4", "column 14: a return has no offset"),
        (
            "kprobe:tcp_*+4",
            "column 13: an offset is of one function; this names several",
        ),
        ("kprobe:/(/", "column 8: unclosed group"),
        (
            "cycles:0",
            "column 8: 0 is no number above 0 (10000, 10k, 1M)",
        ),
        (
            "cycles:99999999999G",
            "column 8: 99999999999G is no number above 0 (10000, 10k, 1M)",
        ),
        (
            "tracepoint:sched",
            "column 17: NAME is missing: CATEGORY:NAME",
        ),
        (
            "tracepoint:a:b/x > 1",
            "column 15: the filter has no slash at its end",
        ),
        ("tracepoint:a:b/ /", "column 15: the filter is empty"),
        ("wake:x", "column 5: this source has no further parts"),
        (
            "fault,weigth=bytes",
            "column 7: no option is called weigth; did you mean weight?; there are weight, unit and depth",
        ),
        (
            "fault,weight=bytes,weight=bytes",
            "column 20: weight is there twice",
        ),
        ("fault,weight=", "column 14: the weight is missing"),
        (
            "fault,depth=3",
            "column 7: depth is of the source graph alone",
        ),
        (
            "switch,weight=bytes",
            "column 15: each event of this source weighs 1",
        ),
        (
            "usdt:a:b,weight=arg12",
            "column 17: arg12 is no weight of this source; it has arg0 to arg11",
        ),
        (
            "uprobe:a:b,weight=dur",
            "column 19: dur is no weight of this source; it has arg0 to arg5 (dur and ret are of uretprobe and kretprobe)",
        ),
        (
            "tracepoint:a:b,weight=x-y",
            "column 23: x-y is no weight of this source; it has its fields, whose names are of letters, digits and _",
        ),
        (
            "usdt:a:b,unit=kg",
            "column 15: a unit is events, bytes or ns",
        ),
        ("fault\n", "column 6: control characters are in no name"),
    ] {
        assert_eq!(
            text.parse::<Spec>().expect_err(text).to_string(),
            error,
            "{text}"
        );
    }
}

/// Whatever is cut off a spec, or put in its place, is read or refused, and the column lies in the text.
#[test]
fn any_text_is_read_or_refused_at_a_column_of_it() {
    let seeds = [
        "usdt:/usr/lib/x:p:n,weight=arg2,unit=bytes",
        "uprobe:f\\:é:g+0x1f",
        "tracepoint:a:b/c == 'd/,e'/,weight=x",
        "graph:/f[x]/,depth=3",
        "cycles:10k",
    ];
    for seed in seeds {
        let chars: Vec<char> = seed.chars().collect();
        for at in 0..=chars.len() {
            for put in [
                None,
                Some(':'),
                Some('/'),
                Some(','),
                Some('='),
                Some('\\'),
                Some('é'),
                Some('+'),
                Some('['),
            ] {
                let mut text: String = chars[..at].iter().collect();
                text.extend(put);
                for rest in [String::new(), chars[at..].iter().collect()] {
                    let text = format!("{text}{rest}");
                    if let Err(e) = text.parse::<Spec>() {
                        assert!(
                            (1..=text.chars().count() + 1).contains(&e.column),
                            "{text}: {e}"
                        );
                    }
                }
            }
        }
    }
}
