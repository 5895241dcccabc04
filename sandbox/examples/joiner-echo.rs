//! A small server for tests of the system node: it prints what it was given, answers probes and ends on request.
//!
//! It listens on `BIND_ADDRESS` (all addresses when unset), port `PORT` (8081 when unset): `/healthz` and `/readyz` answer
//! 200 (503 after `/sick` and `/busy`), `/env` the environment, `/exit` ends it with code 3. SIGTERM ends it as for any
//! program.

use std::env;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};

static SICK: AtomicBool = AtomicBool::new(false);
static BUSY: AtomicBool = AtomicBool::new(false);

fn main() -> std::io::Result<()> {
    say(&format!(
        "arguments {:?}",
        env::args().skip(1).collect::<Vec<_>>()
    ));
    if env::args().nth(1).as_deref() == Some("once") {
        say("done");
        return Ok(());
    }
    let address = env::var("BIND_ADDRESS").unwrap_or_else(|_| "0.0.0.0".to_owned());
    let port = env::var("PORT")
        .ok()
        .and_then(|port| port.parse().ok())
        .unwrap_or(8081_u16);
    let listener = TcpListener::bind((address.as_str(), port))?;
    say(&format!("listening on {address}:{port}"));
    for stream in listener.incoming() {
        if let Err(error) = answer(stream?) {
            eprintln!("{error}");
        }
    }
    Ok(())
}

fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    // Nobody may be reading.
    let _ = writeln!(out, "{text}").and_then(|()| out.flush());
}

fn answer(mut stream: TcpStream) -> std::io::Result<()> {
    let mut request = String::new();
    BufReader::new(&stream).read_line(&mut request)?;
    let path = request.split(' ').nth(1).unwrap_or("/");
    let (status, body) = match path {
        "/healthz" if SICK.load(Ordering::Relaxed) => ("503 Service Unavailable", "sick".to_owned()),
        "/readyz" if BUSY.load(Ordering::Relaxed) => ("503 Service Unavailable", "busy".to_owned()),
        "/healthz" | "/readyz" => ("200 OK", "ok".to_owned()),
        "/sick" => {
            SICK.store(true, Ordering::Relaxed);
            ("200 OK", "sick now".to_owned())
        }
        "/busy" => {
            BUSY.store(true, Ordering::Relaxed);
            ("200 OK", "busy now".to_owned())
        }
        "/env" => {
            let lines: Vec<String> = env::vars()
                .map(|(name, value)| format!("{name}={value}"))
                .collect();
            ("200 OK", lines.join("\n"))
        }
        "/exit" => {
            say("ending with code 3");
            std::process::exit(3);
        }
        _ => ("404 Not Found", "no such path".to_owned()),
    };
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )?;
    stream.flush()
}
