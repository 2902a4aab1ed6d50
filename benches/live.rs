//! How fast changes reach those who follow lists, and what it costs those who write. `scripts/bench-live` runs it.
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a measurement that meets something else than it expects is void"
)]

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tasklane::clock::SystemClock;
use tasklane::domain::{
    ActiveForm, Actor, Content, Item, Op, Operation, ResourceId, Status, TaskId, ThreadId, ThreadKey,
};
use tasklane::service::{Answered, Caller, ChangeRequest, Lists, Next, Scopes, Settings};
use tasklane::store::{self, StoreOptions};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;

#[tokio::main]
async fn main() {
    // Cargo adds a flag of its own.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let number = |text: &str| text.parse::<u64>().expect("a number");
    match arguments[..] {
        ["delivery", url, threads, rate, seconds] => {
            delivery(url, number(threads) as usize, number(rate), number(seconds)).await;
        }
        ["throughput", url, pairs, callers, seconds] => {
            throughput(url, number(pairs), number(callers) as usize, number(seconds)).await;
        }
        ["readers", address, pid, readers, rate, seconds] => {
            many_readers(address, pid, number(readers) as u32, number(rate), number(seconds)).await;
        }
        _ => println!(
            "delivery URL THREADS RATE SECONDS\nthroughput URL PAIRS CALLERS SECONDS\n\
             readers ADDRESS PID READERS RATE SECONDS"
        ),
    }
}

/// From the call on one process to the reader on another, at a rate of changes over so many threads.
async fn delivery(url: &str, threads: usize, rate: u64, seconds: u64) {
    let (writer, reader) = (process(url, true).await, process(url, true).await);
    let begin = Instant::now();
    let acknowledged: Arc<Mutex<HashMap<(usize, i64), Instant>>> = Arc::default();
    let delays: Arc<Mutex<Delays>> = Arc::default();
    let delivered = Arc::new(AtomicU64::new(0));
    for thread in 0..threads {
        let mut following = reader.follow(&caller(), &key(thread), None).await.unwrap();
        let (acknowledged, delays, delivered) =
            (Arc::clone(&acknowledged), Arc::clone(&delays), Arc::clone(&delivered));
        tokio::spawn(async move {
            let Next::Snapshot(list) = following.next().await.unwrap() else { panic!("no snapshot") };
            let mut seen = list.revision().get();
            loop {
                let Next::Change(told) = following.next().await.unwrap() else { panic!("a change was missed") };
                seen += 1;
                assert_eq!(told.change.revision.get(), seen);
                let (Op::Update { after, .. } | Op::Add(after)) = &told.change.ops[0] else { panic!("another change") };
                let sent = begin + Duration::from_nanos(after.task.content.as_str().parse().unwrap());
                let answered = acknowledged.lock().unwrap().remove(&(thread, seen));
                let mut delays = delays.lock().unwrap();
                delays.since_call.push(millis(sent.elapsed()));
                // Where the reader was told before the writer, there was no delay.
                delays.since_answer.push(answered.map_or(0.0, |at| millis(at.elapsed())));
                delivered.fetch_add(1, Ordering::Relaxed);
            }
        });
    }
    let (start, total) = (Instant::now(), rate * seconds);
    let mut tick = tokio::time::interval(Duration::from_millis(1));
    let mut sent = 0;
    while sent < total {
        tick.tick().await;
        let due = (start.elapsed().as_secs_f64() * rate as f64) as u64;
        while sent < due.min(total) {
            let thread = sent as usize % threads;
            let (writer, acknowledged) = (writer.clone(), Arc::clone(&acknowledged));
            tokio::spawn(async move {
                let revision = change(&writer, &key(thread), &begin.elapsed().as_nanos().to_string()).await;
                acknowledged.lock().unwrap().insert((thread, revision), Instant::now());
            });
            sent += 1;
        }
    }
    let took = start.elapsed();
    while delivered.load(Ordering::Relaxed) < total {
        assert!(start.elapsed() < took + Duration::from_secs(30), "changes were not delivered");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    println!("{total} changes of {threads} threads in {took:.1?}, all delivered");
    let mut delays = delays.lock().unwrap();
    show("since the call", &mut delays.since_call);
    show("since the answer", &mut delays.since_answer);
}

#[derive(Debug, Default)]
struct Delays {
    since_call: Vec<f64>,
    since_answer: Vec<f64>,
}

/// Changes a second with and without telling other processes, while one of them listens; and without beside without.
async fn throughput(url: &str, pairs: u64, callers: usize, seconds: u64) {
    let (on, off, also_off) = (process(url, true).await, process(url, false).await, process(url, false).await);
    let listener = process(url, true).await;
    let _following = listener.follow(&caller(), &key(1_000_000), None).await.unwrap();
    for lists in [&on, &off, &also_off] {
        changes_a_second(lists, callers, 1).await;
    }
    let (mut ratios, mut of_itself) = (Vec::new(), Vec::new());
    for pair in 0..pairs {
        let mut order = [("on", &on), ("off", &off), ("off 1", &off), ("off 2", &also_off)];
        if pair % 2 == 1 {
            order.reverse();
        }
        let mut figures = HashMap::new();
        for (name, lists) in order {
            figures.insert(name, changes_a_second(lists, callers, seconds).await);
        }
        let (ratio, same) = (figures["on"] / figures["off"], figures["off 1"] / figures["off 2"]);
        println!("{figures:.0?}: on/off {ratio:.3}, off/off {same:.3}");
        ratios.push(ratio);
        of_itself.push(same);
    }
    println!(
        "{pairs} pairs, median on/off {:.3}, off/off {:.3}",
        quantile(&mut ratios, 0.5),
        quantile(&mut of_itself, 0.5)
    );
}

async fn changes_a_second(lists: &Lists, callers: usize, seconds: u64) -> f64 {
    let until = Instant::now() + Duration::from_secs(seconds);
    let calling: Vec<_> = (0..callers)
        .map(|caller| {
            let lists = lists.clone();
            tokio::spawn(async move {
                let mut count = 0_u32;
                while Instant::now() < until {
                    change(&lists, &key(caller), &count.to_string()).await;
                    count += 1;
                }
                count
            })
        })
        .collect();
    let mut sum = 0.0;
    for caller in calling {
        sum += f64::from(caller.await.unwrap());
    }
    sum / seconds as f64
}

/// Readers of one thread of a running service, whose memory is looked at.
async fn many_readers(address: &str, pid: &str, readers: u32, rate: u64, seconds: u64) {
    let begin = Instant::now();
    let before = resident_kib(pid);
    let delays: Arc<Mutex<Vec<f64>>> = Arc::default();
    let ready = Arc::new(Semaphore::new(0));
    for _ in 0..readers {
        let mut socket = TcpStream::connect(address).await.unwrap();
        let request = b"GET /threads/live/events HTTP/1.1\r\nhost: localhost\r\naccept: text/event-stream\r\n\r\n";
        socket.write_all(request).await.unwrap();
        let (delays, ready) = (Arc::clone(&delays), Arc::clone(&ready));
        tokio::spawn(async move {
            let mut lines = BufReader::with_capacity(2_048, socket).lines();
            let (mut seen, mut last) = (Vec::new(), None);
            while let Ok(Some(line)) = lines.next_line().await {
                if line.starts_with("event: snapshot") {
                    ready.add_permits(1);
                }
                if let Some(revision) = line.strip_prefix("id: ") {
                    let revision: i64 = revision.parse().unwrap();
                    assert!(last.is_none_or(|last| revision == last + 1), "a change was missed");
                    last = Some(revision);
                }
                let Some((_, ops)) = line.strip_prefix("data: ").and_then(|data| data.split_once("\"ops\"")) else {
                    continue;
                };
                let (_, after) = ops.rsplit_once("\"content\":\"").unwrap();
                let content = &after[..after.find('"').unwrap()];
                if content == "end" {
                    delays.lock().unwrap().append(&mut seen);
                    ready.add_permits(1);
                    continue;
                }
                seen.push(millis((begin + Duration::from_nanos(content.parse().unwrap())).elapsed()));
            }
        });
    }
    ready.acquire_many(readers).await.unwrap().forget();
    println!(
        "{readers} readers: {:.1} KiB each while nothing happens",
        (resident_kib(pid) - before) / f64::from(readers)
    );

    let mut writer = TcpStream::connect(address).await.unwrap();
    let mut writes = Vec::new();
    let mut tick = tokio::time::interval(Duration::from_secs_f64(1.0 / rate as f64));
    for _ in 0..rate * seconds {
        tick.tick().await;
        let at = Instant::now();
        put(&mut writer, &begin.elapsed().as_nanos().to_string()).await;
        writes.push(millis(at.elapsed()));
    }
    let under_load = resident_kib(pid);
    put(&mut writer, "end").await;
    ready.acquire_many(readers).await.unwrap().forget();
    show("writes", &mut writes);
    show("delivery since the call", &mut delays.lock().unwrap());
    println!("{:.1} KiB a reader under load", (under_load - before) / f64::from(readers));
}

async fn put(socket: &mut TcpStream, content: &str) {
    let body = format!(r#"{{"tasks":[{{"id":"a","content":"{content}","status":"pending","activeForm":"Doing"}}]}}"#);
    let request = format!(
        "PUT /threads/live/tasks HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    socket.write_all(request.as_bytes()).await.unwrap();
    // The answer is small and written at once.
    let mut answer = [0; 8_192];
    let length = socket.read(&mut answer).await.unwrap();
    assert!(answer[..length].starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&answer[..length]));
}

/// One process of the service, as far as it matters here.
async fn process(url: &str, announces: bool) -> Lists {
    let options = StoreOptions { connections_max: 8, acquire_timeout: Duration::from_secs(10), announces };
    Lists::new(store::open(url, &options).await.expect("a database"), Arc::new(SystemClock), Settings::default())
}

fn caller() -> Caller {
    Caller { resource: ResourceId::default(), actor: Actor::default(), scopes: Scopes::ALL }
}

fn key(thread: usize) -> ThreadKey {
    ThreadKey { resource: ResourceId::default(), thread: ThreadId::parse(format!("live-{thread}")).unwrap() }
}

/// Changes a list and returns its revision.
async fn change(lists: &Lists, key: &ThreadKey, content: &str) -> i64 {
    let operation = Operation::Write(vec![Item {
        id: Some(TaskId::parse("a").unwrap()),
        content: Content::parse(content).unwrap(),
        status: Status::Pending,
        active_form: ActiveForm::parse("Doing").unwrap(),
    }]);
    match lists.change(&caller(), ChangeRequest::new(key.clone(), operation)).await.unwrap() {
        Answered::Fresh(done) => done.list.revision().get(),
        Answered::Replayed(_) => panic!("no key was used"),
    }
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

fn quantile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    values[((values.len() - 1) as f64 * share) as usize]
}

fn show(name: &str, values: &mut [f64]) {
    let [middle, most, worst, all] = [0.5, 0.9, 0.99, 1.0].map(|share| quantile(values, share));
    println!(
        "{name}: {} times, p50 {middle:.1} ms, p90 {most:.1} ms, p99 {worst:.1} ms, at most {all:.1} ms",
        values.len()
    );
}

fn resident_kib(pid: &str) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("a system with /proc");
    let line = status.lines().find(|line| line.starts_with("VmRSS")).expect("its memory");
    line.split_whitespace().nth(1).expect("a figure").parse().expect("a number")
}
