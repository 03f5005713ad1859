//! Tests that layouts and sizes are those of the documentation.

use priolane_core::telemetry::Path;
use priolane_core::transport::receiver_driven::ControlMessage;
use priolane_core::transport::tokens::{self, TokenMessage};
use priolane_core::transport::window::Segment;
use priolane_core::wire::{Codec, Format, IpVersion, MtuError, Sizes, WireBody};

use crate::golden::samples;

const PAGE: &str = include_str!("../../../../docs/wire-format.md");

/// The modules that define messages, with the section of the page that repeats them.
const MODULES: [(Format, &str, &str); 3] = [
    (Format::Window, "## Window", include_str!("../../src/wire/window.rs")),
    (Format::Tokens, "## Tokens", include_str!("../../src/wire/tokens.rs")),
    (Format::ReceiverDriven, "## Receiver-driven", include_str!("../../src/wire/receiver_driven.rs")),
];

/// The rows of a table of messages.
fn rows(module: &str) -> Vec<&str> {
    let lines = module.lines().map(|line| line.trim_start_matches("//! "));
    let is_row = |line: &&str| {
        let number = line.strip_prefix("| ").and_then(|line| line.split(" | ").nth(1));
        number.is_some_and(|number| number.parse::<u8>().is_ok())
    };
    lines.filter(is_row).collect()
}

/// The number at the start of `text`.
fn number(text: &str) -> usize {
    text.split(|c: char| !c.is_ascii_digit()).next().unwrap().parse().unwrap_or_else(|_| panic!("{text}"))
}

#[test]
fn messages_have_the_numbers_and_sizes_of_their_tables() {
    let samples = samples();
    let mut seen = 0;
    for (format, _, module) in MODULES {
        for row in rows(module) {
            let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
            let [name, message, fields, bytes] = cells[..] else { panic!("{row}") };
            let fields: usize = fields.split('(').skip(1).map(number).sum();
            assert_eq!(6 + fields, number(bytes), "{row}");
            // Telemetry and blocks come on top.
            let fits = |len: usize| if name == "ACK" { len >= number(bytes) } else { len == number(bytes) };
            let of_row: Vec<_> = samples.iter().filter(|s| s.format == format && s.name == name).collect();
            assert!(!of_row.is_empty(), "{row} has no sample");
            for sample in &of_row {
                assert_eq!(usize::from(sample.encoded[1] & 0xf), number(message), "{row}");
                assert!(fits(sample.encoded.len() - usize::from(sample.payload)), "{row}");
            }
            seen += of_row.len();
        }
    }
    let with_int = samples.iter().filter(|sample| sample.format == Format::WindowInt).count();
    assert_eq!(seen + with_int, samples.len(), "a message without a row");
}

#[test]
fn the_page_repeats_the_tables_of_the_modules() {
    for (_, section, module) in MODULES {
        let (_, page) = PAGE.split_once(section).unwrap();
        let page = page.split("\n## ").next().unwrap();
        assert_eq!(rows(page), rows(module), "{section}");
    }
    assert_eq!(PAGE.matches("| DATA |").count(), MODULES.len());
}

/// The row of the page's table of sizes that a format should have.
fn size_row<B: WireBody>() -> String {
    let frame = Codec::<B>::new(1_500, IpVersion::V4).unwrap().frame();
    let Sizes { data, ack, syn, max } = B::SIZES;
    let (mss, wire, format) = (frame.mss(), frame.ack_wire(), B::FORMAT);
    assert_eq!((mss, frame.data_wire(mss)), (1_500 - 28 - data, 1_538));
    format!("| {format} | {data} | {ack} | {syn} | {max} | {mss} | {wire} |")
}

/// The row of a format that carries ranks: 8 bytes more in each message.
fn ranked_row<B: WireBody>() -> String {
    let codec = Codec::<B>::with_ranks(1_500, IpVersion::V4).unwrap().unwrap();
    let (frame, Sizes { data, ack, syn, max }) = (codec.frame(), B::SIZES);
    let [data, ack, syn, max] = [data, ack, syn, max].map(|bytes| bytes + 8);
    format!(
        "| {} | {data} | {ack} | {syn} | {max} | {} | {} |",
        codec.format(),
        frame.mss(),
        frame.ack_wire()
    )
}

#[test]
fn the_page_states_the_sizes_of_the_codec() {
    for row in [
        size_row::<Segment>(),
        size_row::<Segment<Path>>(),
        size_row::<TokenMessage>(),
        size_row::<ControlMessage>(),
        ranked_row::<Segment>(),
        ranked_row::<TokenMessage>(),
    ] {
        assert!(PAGE.contains(&row), "{row}");
    }
}

#[test]
fn no_message_is_larger_than_its_format_says() {
    for sample in samples() {
        let (head, sizes) = (
            sample.encoded.len() - usize::from(sample.payload),
            match sample.format {
                Format::Window => Segment::<()>::SIZES,
                Format::WindowInt => Segment::<Path>::SIZES,
                Format::Tokens => TokenMessage::SIZES,
                Format::ReceiverDriven => ControlMessage::SIZES,
                Format::WindowRanked | Format::TokensRanked => {
                    panic!("its messages are those without a rank")
                }
            },
        );
        assert!(head <= usize::from(sizes.max), "{}", sample.name);
    }
}

#[test]
fn a_token_is_a_minimum_frame_over_ipv4() {
    let v4 = Codec::<TokenMessage>::new(1_500, IpVersion::V4).unwrap().frame();
    let v6 = Codec::<TokenMessage>::new(1_500, IpVersion::V6).unwrap().frame();
    assert_eq!((v4.ack_wire(), v6.ack_wire()), (84, 104));
    assert_eq!((v4.mss(), v6.mss()), (1_452, 1_432));
    let config = tokens::Config::expresspass(v4);
    assert_eq!(config.frame.data_wire(config.frame.mss()), 1_538);
}

#[test]
fn an_mtu_holds_the_largest_message_and_a_byte_of_payload() {
    // 28 + 36: an ACK with two blocks; 28 + 24 + 1: a byte of payload.
    let at = |mtu| Codec::<Segment>::new(mtu, IpVersion::V4).map(|codec| codec.frame().mss());
    assert_eq!(at(64), Ok(20));
    assert_eq!(at(63), Err(MtuError { mtu: 63, format: Format::Window, least: 64, most: 65_497 }));
    assert_eq!(Codec::<ControlMessage>::new(53, IpVersion::V4).unwrap().frame().mss(), 1);
    // Its size on the wire, 38 bytes more, still is one of 16 bits.
    assert_eq!(Codec::<Segment>::new(65_497, IpVersion::V4).unwrap().frame().max_wire(), u16::MAX);
    assert_eq!(
        at(65_498).unwrap_err().to_string(),
        "the MTU is 65498 bytes, but format window supports 64 to 65497"
    );
}
