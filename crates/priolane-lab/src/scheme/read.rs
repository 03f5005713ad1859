//! Reads scheme files into [`Scheme`].

use priolane_core::admit::Policy;
use priolane_core::assign::Assign;
use priolane_core::host::Order;
use priolane_core::keys::{InTable, Plain};
use priolane_core::nic::Nic;
use priolane_core::port::{ClassMap, PortKeys};
use priolane_core::transport::Spec;
use priolane_source::{InputError, Merge, Mistakes, Origin, Reader, Table};

use super::{Pay, Scheme, admit, assign, host, port, row, transport};
use crate::assumptions::Anchors;

/// Alternative keys of a scheme.
pub(crate) const MERGE: Merge = Merge {
    rules: &[],
    inner: &[
        ("transport", &transport::MERGE),
        ("assign", &assign::MERGE),
        ("host", &host::MERGE),
        ("admit", &admit::MERGE),
        ("nic", &port::NIC_MERGE),
        ("port", &port::MERGE),
    ],
    each: None,
};

const PORT_FIX: &str = "port = { kind = \"fifo\", buffer = { shared = \"240pkt\" } }";

/// Reads the scheme in `table`, located at `origin` under the dotted key `path`.
///
/// # Errors
/// Returns the first mistake of each part, and all unknown keys.
pub fn read(table: &Table, path: &str, origin: &Origin) -> Result<Scheme, InputError> {
    let mut keys = Reader::new(table, path, origin);
    let mut found = Mistakes::new(&origin.file);
    let paper = found.keep(keys.take("paper").map(|f| f.text().map(str::to_owned)).transpose());
    if let Some(base) = keys.take("base") {
        let fix = "a table [scheme.NAME] of the experiment with this base and the keys that differ";
        found.add(base.error("a scheme file has no base", fix));
    }
    if let Some(price) = keys.take("price") {
        found.add(price.error("prices are not supported in this version", "Remove the key"));
    }
    let assumptions = found.keep(keys.take("assumptions").map_or(Ok(Vec::new()), |f| f.read::<_, Anchors>()));
    let transport = keys.need("transport", "transport = { kind = \"dctcp\" }");
    let transport = found.keep(transport.and_then(|field| row::read::<Spec>(&field)));
    let order = match &transport {
        Some(transport) if transport.schedules_itself() => Order::OWN,
        _ => Order::TURNS,
    };
    let assign = found.keep(keys.take("assign").map_or(Ok(Assign::default()), |f| row::read(&f)));
    let host = found.keep(keys.take("host").map_or(Ok(order), |f| row::read(&f)));
    let admit = found.keep(keys.take("admit").map_or(Ok(Policy::default()), |f| row::read(&f)));
    let nic = found.keep(keys.take("nic").map_or(Ok(Nic::PULL), |f| f.read::<_, Plain>()));
    let port = found.keep(keys.need("port", PORT_FIX).and_then(|field| row::read::<PortKeys>(&field)));
    let map = found.keep(keys.take("map").map_or(Ok(ClassMap::IDENTITY), |f| f.read::<_, InTable>()));
    let pay = found.keep(keys.word_or("pay", &Pay::WORDS, Pay::Honoured));
    found.keep(keys.finish());
    let scheme = (|| {
        Some(Scheme {
            paper: paper?,
            assumptions: assumptions?,
            transport: transport?,
            assign: assign?,
            host: host?,
            admit: admit?,
            nic: nic?,
            port: port?,
            map: map?,
            pay: pay?,
        })
    })();
    found.done(scheme)
}
