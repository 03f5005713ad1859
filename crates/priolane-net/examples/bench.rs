//! Messages per second, goodput and latency over the loopback interface, beside TCP: numbers of docs/evidence/agreement.md.
//!
//! `cargo run --release -p priolane-net --example bench [TRANSPORT...]`; `PRIOLANE_KEY=1` for datagrams with a key,
//! `PRIOLANE_SEGMENTATION=1` for datagrams that the kernel cuts, `PRIOLANE_RECEIVE_OFFLOAD=1` for groups of received datagrams.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "it measures time, and prints what it found"
)]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use priolane_net::{Config, Host, Key, Limits, ReceiveOffload, Request, Scheme, Segmentation};

/// The numbers of round trips and of short messages, and the length of a long message in bytes.
const ROUND_TRIPS: usize = 20_000;
const SHORT: usize = 200_000;
const LONG: usize = 400_000_000;

/// Returns the processor time of a thread or process in seconds, from /proc, in ticks of 10 ms.
fn cpu(path: &str) -> f64 {
    let stat = std::fs::read_to_string(path).unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |place: usize| fields.get(place).and_then(|field| field.parse::<f64>().ok()).unwrap_or(0.0);
    (ticks(11) + ticks(12)) / 100.0
}

fn process() -> f64 {
    cpu("/proc/self/stat")
}

/// Returns the processor time of each of the two hosts' threads.
fn hosts() -> Vec<f64> {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().filter_map(Result::ok);
    let named = tasks.filter(|task| {
        let name = std::fs::read_to_string(task.path().join("comm")).unwrap_or_default();
        name.starts_with("priolane-host")
    });
    named.map(|task| cpu(&task.path().join("stat").to_string_lossy())).collect()
}

fn percentile(sorted: &[Duration], part: f64) -> f64 {
    let place = ((sorted.len() - 1) as f64 * part) as usize;
    sorted[place].as_secs_f64() * 1e6
}

fn report_latency(name: &str, mut taken: Vec<Duration>) {
    taken.sort_unstable();
    let [p50, p99, p999] = [0.5, 0.99, 0.999].map(|part| percentile(&taken, part));
    println!("{name}: 64 B there and back, us: p50 {p50:.1} p99 {p99:.1} p99.9 {p999:.1}");
}

fn report_rate(name: &str, what: &str, (messages, bytes): (usize, usize), (took, used): (Duration, f64)) {
    let seconds = took.as_secs_f64();
    println!(
        "{name}: {what}: {:.0} messages/s, {:.2} Gbit/s in {seconds:.2} s, {:.2} CPU s, {:.2} Gbit/s per CPU second",
        messages as f64 / seconds,
        bytes as f64 * 8e-9 / seconds,
        used,
        bytes as f64 * 8e-9 / used.max(0.01),
    );
}

fn measure(name: &str, spin: Duration) -> Result<(), Box<dyn std::error::Error>> {
    let limits = Limits { message: 1 << 32, sender: 1 << 30, queued: 1 << 30, ..Limits::default() };
    let key = std::env::var_os("PRIOLANE_KEY").map(|_| Key::new(&[7; 32])).transpose()?;
    let segmentation = match std::env::var_os("PRIOLANE_SEGMENTATION") {
        Some(_) => Segmentation::Kernel,
        None => Segmentation::Host,
    };
    let receive_offload = match std::env::var_os("PRIOLANE_RECEIVE_OFFLOAD") {
        Some(_) => ReceiveOffload::Kernel,
        None => ReceiveOffload::Off,
    };
    let config = Config::new(Scheme::named(name)?);
    let config = Config { limits, spin, key, segmentation, receive_offload, real_time: Some(10), ..config };
    let [a, b] = [Host::bind(config.clone())?, Host::bind(config)?];
    println!("{name}: {:?}, spin {spin:?}", a.scheduling());
    std::thread::scope(|scope| -> Result<(), Box<dyn std::error::Error>> {
        scope.spawn(|| {
            for _ in 0..ROUND_TRIPS + 100 {
                let Ok(message) = b.recv() else { return };
                if b.send(Request::to(message.from), message.bytes).is_err() {
                    return;
                }
            }
        });
        let mut taken = Vec::with_capacity(ROUND_TRIPS);
        for n in 0..ROUND_TRIPS + 100 {
            let began = Instant::now();
            a.send(Request::to(b.address()), vec![1; 64])?;
            a.recv()?;
            if n >= 100 {
                taken.push(began.elapsed());
            }
        }
        report_latency(name, taken);
        Ok(())
    })?;
    for (what, count, len) in
        [("64 B at once", SHORT, 64), ("10 kB at once", 20_000, 10_000), ("bulk", 1, LONG)]
    {
        let (began, used, before) = (Instant::now(), process(), (a.stats(), b.stats()));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                (0..count).try_for_each(|_| a.send(Request::to(b.address()), vec![1; len]).map(drop))
            });
            (0..count).try_for_each(|_| b.recv().map(drop))
        })?;
        report_rate(name, what, (count, count * len), (began.elapsed(), process() - used));
        let (sent, got) = (a.stats(), b.stats());
        println!(
            "  datagrams {} there, {} as segments, {} groups, {} back; lost in sockets {}, no room {}; host threads' CPU s {:?}",
            sent.datagrams_sent - before.0.datagrams_sent,
            sent.segments - before.0.segments,
            got.groups_received - before.1.groups_received,
            got.datagrams_sent - before.1.datagrams_sent,
            got.lost_in_socket + sent.lost_in_socket,
            got.no_room - before.1.no_room,
            hosts(),
        );
    }
    Ok(())
}

/// Measures the same over a TCP connection, on which a length precedes each message.
fn measure_tcp() -> std::io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let mut client = TcpStream::connect(listener.local_addr()?)?;
    let (mut server, _) = listener.accept()?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let echo = std::thread::spawn(move || -> std::io::Result<TcpStream> {
        let mut buffer = [0; 64];
        for _ in 0..ROUND_TRIPS {
            server.read_exact(&mut buffer)?;
            server.write_all(&buffer)?;
        }
        Ok(server)
    });
    let (mut taken, mut buffer) = (Vec::with_capacity(ROUND_TRIPS), [1; 64]);
    for _ in 0..ROUND_TRIPS {
        let began = Instant::now();
        client.write_all(&buffer)?;
        client.read_exact(&mut buffer)?;
        taken.push(began.elapsed());
    }
    report_latency("tcp", taken);
    let mut server = echo.join().map_err(|_| std::io::Error::other("the echo panicked"))??;
    for (what, count, len) in
        [("64 B at once", SHORT, 64), ("10 kB at once", 20_000, 10_000), ("bulk", 1, LONG)]
    {
        let (began, used) = (Instant::now(), process());
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let message = vec![1; len + 8];
                (0..count).try_for_each(|_| client.write_all(&message))
            });
            let mut message = vec![0; len + 8];
            (0..count).try_for_each(|_| server.read_exact(&mut message))
        })?;
        report_rate("tcp", what, (count, count * len), (began.elapsed(), process() - used));
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    measure_tcp()?;
    let names: Vec<String> = std::env::args().skip(1).collect();
    let names =
        if names.is_empty() { vec!["dctcp".to_owned(), "homa".to_owned(), "top".to_owned()] } else { names };
    for name in names {
        measure(&name, Duration::ZERO)?;
    }
    measure("dctcp", Duration::from_micros(100))
}
