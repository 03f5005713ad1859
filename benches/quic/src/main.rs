//! The measurements of `priolane-net`'s example `bench` with quinn: messages over QUIC on the loopback interface.
//!
//! Each end has a thread of its own. Round trips are on one stream; each message of the others is a stream, as nothing orders
//! messages. Congestion control is quinn's default (CUBIC), and windows let all of a message be under way.
#![expect(clippy::disallowed_methods, reason = "it measures time")]

use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use quinn::{ClientConfig, Connection, Endpoint, ServerConfig, TransportConfig, VarInt};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// Those of the example `bench`.
const ROUND_TRIPS: usize = 20_000;
const SHORT: usize = 200_000;
const LONG: usize = 400_000_000;

type Failure = Box<dyn Error + Send + Sync>;

/// Processor time of this process, in seconds; ticks of 10 ms.
fn process() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |place: usize| fields.get(place).and_then(|field| field.parse::<f64>().ok()).unwrap_or(0.0);
    (ticks(11) + ticks(12)) / 100.0
}

fn transport() -> Arc<TransportConfig> {
    let mut transport = TransportConfig::default();
    transport
        .stream_receive_window(VarInt::from_u32(1 << 26))
        .receive_window(VarInt::from_u32(1 << 27))
        .send_window(1 << 27)
        .max_concurrent_uni_streams(VarInt::from_u32(10_000));
    Arc::new(transport)
}

fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    Ok(tokio::runtime::Builder::new_current_thread().enable_all().build()?)
}

/// Sends messages back, then takes as many as the client sends.
async fn serve(endpoint: Endpoint) -> Result<(), Failure> {
    let connection = endpoint.accept().await.ok_or("no client")?.await?;
    let (mut back, mut there) = connection.accept_bi().await?;
    let mut message = [0; 64];
    for _ in 0..ROUND_TRIPS {
        there.read_exact(&mut message).await?;
        back.write_all(&message).await?;
    }
    for (count, len) in MESSAGES.map(|(_, count, len)| (count, len)) {
        for _ in 0..count {
            let mut stream = connection.accept_uni().await?;
            let mut got = 0;
            while let Some(chunk) = stream.read_chunk(usize::MAX, false).await? {
                got += chunk.bytes.len();
            }
            if got != len {
                return Err(format!("{got} B of {len} came").into());
            }
        }
        back.write_all(&message).await?;
    }
    connection.closed().await;
    Ok(())
}

const MESSAGES: [(&str, usize, usize); 3] =
    [("64 B at once", SHORT, 64), ("10 kB at once", 20_000, 10_000), ("bulk", 1, LONG)];

async fn measure(connection: &Connection) -> Result<(), Failure> {
    let (mut there, mut back) = connection.open_bi().await?;
    let (mut taken, mut message) = (Vec::with_capacity(ROUND_TRIPS), [1; 64]);
    for _ in 0..ROUND_TRIPS {
        let began = Instant::now();
        there.write_all(&message).await?;
        back.read_exact(&mut message).await?;
        taken.push(began.elapsed());
    }
    taken.sort_unstable();
    let at = |part: f64| taken[((taken.len() - 1) as f64 * part) as usize].as_secs_f64() * 1e6;
    println!("quic: 64 B there and back, us: p50 {:.1} p99 {:.1} p99.9 {:.1}", at(0.5), at(0.99), at(0.999));
    for (what, count, len) in MESSAGES {
        let content = vec![1; len];
        let (began, used) = (Instant::now(), process());
        for _ in 0..count {
            let mut stream = connection.open_uni().await?;
            stream.write_all(&content).await?;
            stream.finish()?;
        }
        back.read_exact(&mut message).await?;
        report(what, (count, len), (began.elapsed(), process() - used));
    }
    Ok(())
}

fn report(what: &str, (count, len): (usize, usize), (took, used): (Duration, f64)) {
    let (seconds, gigabits) = (took.as_secs_f64(), (count * len) as f64 * 8e-9);
    println!(
        "quic: {what}: {:.0} messages/s, {:.2} Gbit/s in {seconds:.2} s, {used:.2} CPU s, {:.2} Gbit/s per CPU second",
        count as f64 / seconds,
        gigabits / seconds,
        gigabits / used.max(0.01),
    );
}

fn main() -> Result<(), Failure> {
    let certified = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()])?;
    let certificate = CertificateDer::from(certified.cert);
    let key = PrivateKeyDer::try_from(certified.signing_key.serialize_der())?;
    let mut server = ServerConfig::with_single_cert(vec![certificate.clone()], key)?;
    server.transport_config(transport());
    let mut roots = rustls::RootCertStore::empty();
    roots.add(certificate)?;
    let mut client = ClientConfig::with_root_certificates(Arc::new(roots))?;
    client.transport_config(transport());
    let (tell, told) = std::sync::mpsc::channel::<SocketAddr>();
    let serving = thread::spawn(move || -> Result<(), Failure> {
        runtime()?.block_on(async move {
            let endpoint = Endpoint::server(server, "127.0.0.1:0".parse()?)?;
            tell.send(endpoint.local_addr()?)?;
            serve(endpoint).await
        })
    });
    let address = told.recv()?;
    runtime()?.block_on(async move {
        let endpoint = Endpoint::client("127.0.0.1:0".parse()?)?;
        let connection = endpoint.connect_with(client, address, "localhost")?.await?;
        measure(&connection).await?;
        connection.close(VarInt::from_u32(0), b"");
        endpoint.wait_idle().await;
        Ok::<(), Failure>(())
    })?;
    serving.join().map_err(|_| "the server panicked")?
}
