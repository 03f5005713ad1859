//! The list of machines that run the hosts of an experiment.
//!
//! ```toml
//! [[machine]]
//! name = "left"
//! ssh = "me@left.example"      # or command = ["docker", "exec", "-i", ...], or socket = "/run/user/1000/priolane"
//! address = "192.0.2.1"        # its hosts bind to it
//! hosts = "0-3"
//! ```

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::Path;

use priolane_core::keys::Plain;
use priolane_lab::experiment::HostSet;
use priolane_linux::job::PORT;
use priolane_linux::machines::{AgentAddress, MachineJob};
use priolane_linux::plan::begins_plainly;
use priolane_source::{Field, InputError, Mistakes, Origin, Reader, SIZE_LIMIT, parse, read_text};

/// The keys by which a machine is reached: one of them.
const WAYS: [&str; 3] = ["ssh", "command", "socket"];
/// The text of a fix about the ways to reach a machine.
const A_WAY: &str = "one of ssh = \"user@host\", command = [...] and socket = \"/path\"";
/// Characters of a name at most.
const LONGEST_NAME: usize = 32;

/// A machine and where its keys are.
struct MachineEntry<'a> {
    machine: MachineJob,
    name: Field<'a>,
    address: Field<'a>,
    hosts: Field<'a>,
}

/// Reads the machines of an experiment with so many hosts.
///
/// # Errors
/// All mistakes: of keys, hosts on no machine or on two, addresses of which packets cannot go from one to the other.
pub(super) fn read(path: &Path, hosts: u32) -> Result<Vec<MachineJob>, InputError> {
    let shown = path.display().to_string();
    let text = read_text(path, &shown, SIZE_LIMIT)?;
    from_text(&shown, &text, hosts)
}

fn from_text(shown: &str, text: &str, hosts: u32) -> Result<Vec<MachineJob>, InputError> {
    let root = parse(shown, text)?;
    let mut keys = Reader::new(&root, "", &Origin { file: shown.into(), line: None });
    let mut found = Mistakes::new(shown);
    let items = keys.need("machine", "[[machine]]").and_then(|field| field.filled_list());
    let items = found.keep(items).unwrap_or_default();
    let entries = found.each(&items, |item| one(item, hosts));
    found.keep(keys.finish());
    // Hosts that are on no machine are no second mistake where a machine could not be read.
    if found.is_empty() {
        together(&entries, (shown, hosts), &mut found);
    }
    let machines = entries.into_iter().map(|entry| entry.machine).collect();
    found.done(Some(machines))
}

/// Reads a machine.
fn one<'a>(item: &Field<'a>, hosts: u32) -> Result<MachineEntry<'a>, InputError> {
    let mut keys = item.table()?;
    let mut found = Mistakes::new(&item.origin().file);
    let name = found.keep(keys.need("name", "name = \"left\"").and_then(|field| Ok((name(&field)?, field))));
    let agent = found.keep(agent_address(&mut keys));
    let address = keys.need("address", "address = \"192.0.2.1\"");
    let address = found.keep(address.and_then(|field| Ok((address_of(&field)?, field))));
    let set = keys.need("hosts", "hosts = \"0-3\"");
    let set = found.keep(set.and_then(|field| Ok((hosts_of(&field, hosts)?, field))));
    let port = keys.take("port").map_or(Ok(u64::from(PORT)), |field| {
        let most = u64::from(u16::MAX) + 1 - set.as_ref().map_or(1, |(hosts, _)| hosts.len() as u64);
        field.integer(1, most)
    });
    let port = found.keep(port);
    found.keep(keys.finish());
    let read = || {
        let ((name, at_name), (address, at_address), (hosts, at_hosts)) = (name?, address?, set?);
        let port = u16::try_from(port?).ok()?;
        let machine = MachineJob { name, agent: agent?, address, port, hosts };
        Some(MachineEntry { machine, name: at_name, address: at_address, hosts: at_hosts })
    };
    found.done(read())
}

fn name(field: &Field<'_>) -> Result<String, InputError> {
    let text = field.text()?;
    let known = |c: char| c.is_ascii_alphanumeric() || ".-_".contains(c);
    if (1..=LONGEST_NAME).contains(&text.len()) && text.chars().all(known) && begins_plainly(text) {
        return Ok(text.to_owned());
    }
    let fix = format!("1 to {LONGEST_NAME} letters, digits, and . - _, of which none of . - comes first");
    Err(field.error("that is not a valid name of a machine", fix))
}

fn agent_address(keys: &mut Reader<'_>) -> Result<AgentAddress, InputError> {
    let given: Vec<&str> = WAYS.into_iter().filter(|way| keys.has(way)).collect();
    let [ssh, command, socket] = WAYS.map(|way| keys.take(way));
    let priolane = keys.take("priolane");
    if given.len() != 1 {
        let what = match given[..] {
            [] => "nothing says how the machine is reached".to_owned(),
            _ => format!("{} are ways to the same machine", given.join(" and ")),
        };
        return Err(keys.error(what, A_WAY));
    }
    if let (Some(field), None) = (&priolane, &ssh) {
        let what = "that is what ssh starts, and the machine is reached without ssh";
        return Err(field.error(what, "Remove the key"));
    }
    if let Some(field) = ssh {
        let priolane = priolane
            .map_or(Ok("priolane".to_owned()), |field| filled(&field, "the path of priolane there"))?;
        return Ok(AgentAddress::Ssh { host: ssh_host(&field)?, priolane });
    }
    if let Some(field) = command {
        let words = field.filled_list()?;
        let words = words.iter().map(|word| word.text().map(str::to_owned));
        return Ok(AgentAddress::Command(words.collect::<Result<_, _>>()?));
    }
    let Some(field) = socket else {
        return Err(keys.error("nothing says how the machine is reached", A_WAY));
    };
    let path = Path::new(field.text()?);
    if !path.is_absolute() {
        return Err(
            field.error("the path is not absolute", "that of `priolane linux agent --socket`, from /")
        );
    }
    Ok(AgentAddress::Socket(path.to_owned()))
}

fn filled(field: &Field<'_>, fix: &str) -> Result<String, InputError> {
    let text = field.text()?;
    if text.trim().is_empty() || text.chars().any(char::is_control) {
        return Err(field.error("the text is empty, or has characters that are not printed", fix));
    }
    Ok(text.to_owned())
}

fn ssh_host(field: &Field<'_>) -> Result<String, InputError> {
    let fix = "a host as ssh knows it, such as \"left\" or \"me@left.example\"; options of ssh are for ~/.ssh/config";
    let text = filled(field, fix)?;
    if text.starts_with('-') || text.contains(char::is_whitespace) {
        return Err(field.error("these are options or a command, and not a host", fix));
    }
    Ok(text)
}

fn address_of(field: &Field<'_>) -> Result<IpAddr, InputError> {
    let text = field.text()?;
    let fix = "the address of the machine in the network that is measured, such as \"192.0.2.1\"";
    let address: IpAddr = text.parse().map_err(|_| field.error("that is no IP address", fix))?;
    if address.is_unspecified() || address.is_multicast() {
        return Err(field.error("that is the address of no single machine", fix));
    }
    Ok(address)
}

fn hosts_of(field: &Field<'_>, count: u32) -> Result<Vec<u16>, InputError> {
    let set: HostSet = field.read::<_, Plain>()?;
    let hosts = set.list(count).map_err(|host| {
        field.error(
            format!("the experiment has {count} hosts, and no host {host}"),
            format!("hosts from 0 to {}", count.saturating_sub(1)),
        )
    })?;
    Ok(hosts.into_iter().map(|host| host.0).collect())
}

/// Returns the mistake in machines that are valid each by itself.
fn together(entries: &[MachineEntry<'_>], (file, hosts): (&str, u32), found: &mut Mistakes) {
    let mut owners: BTreeMap<u16, &str> = BTreeMap::new();
    for (place, MachineEntry { machine, name, address, hosts }) in entries.iter().enumerate() {
        let before = &entries[..place];
        for &host in &machine.hosts {
            if let Some(other) = owners.insert(host, &machine.name) {
                let what = format!("host {host} is on machine {other} already");
                found.add(hosts.error(what, "each host once"));
            }
        }
        let others = || before.iter().map(|other| &other.machine);
        if others().any(|other| other.name == machine.name) {
            found.add(name.error(format!("there are two machines {}", machine.name), "another name"));
        }
        if let Some(other) = others().find(|other| shares_ports(other, machine)) {
            let what = format!("machine {} has hosts at this address and these ports", other.name);
            found.add(address.error(what, "another address, or another port"));
        }
        let first = entries[0].machine.address;
        if first.is_ipv4() != machine.address.is_ipv4()
            || first.is_loopback() != machine.address.is_loopback()
        {
            let what = format!("packets do not go from {first} to {}", machine.address);
            found.add(address.error(what, "addresses of one family, all or none of them those of loopback"));
        }
    }
    let missing: Vec<String> = (0..hosts)
        .filter(|&host| !owners.contains_key(&(host as u16)))
        .map(|host| host.to_string())
        .collect();
    if !missing.is_empty() {
        let what = format!("no machine has host {}", missing.join(", "));
        found.add(InputError::new(file, None, "machine", what, "each host of the experiment once"));
    }
}

fn shares_ports(one: &MachineJob, other: &MachineJob) -> bool {
    let ends = |machine: &MachineJob| usize::from(machine.port) + machine.hosts.len();
    one.address == other.address && usize::from(one.port) < ends(other) && usize::from(other.port) < ends(one)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &str = r#"
[[machine]]
name = "left"
ssh = "me@left"
address = "192.0.2.1"
hosts = "0-1"

[[machine]]
name = "right"
command = ["ip", "netns", "exec", "right", "priolane", "linux", "agent"]
address = "192.0.2.2"
port = 9000
hosts = "2,3"
"#;

    fn lines(text: &str) -> Vec<String> {
        from_text("m.toml", text, 4).unwrap_err().to_string().lines().map(str::to_owned).collect()
    }

    #[test]
    fn machines_are_read_with_the_usual_port_and_priolane() {
        let read = from_text("m.toml", TWO, 4).unwrap();
        let expected = AgentAddress::Ssh { host: "me@left".to_owned(), priolane: "priolane".to_owned() };
        assert_eq!((&read[0].agent, read[0].port, &read[0].hosts[..]), (&expected, 7_077, &[0, 1][..]));
        assert_eq!((read[1].port, read[1].address), (9_000, "192.0.2.2".parse().unwrap()));
        let AgentAddress::Command(argv) = &read[1].agent else { panic!("{:?}", read[1].agent) };
        assert_eq!(argv.len(), 7);
    }

    #[test]
    fn all_mistakes_of_all_machines_are_told_at_once() {
        let text = TWO
            .replace("me@left", "-oProxyCommand=x")
            .replace("\"0-1\"", "\"0-9\"")
            .replace("\"192.0.2.2\"", "\"0.0.0.0\"")
            .replace("port", "prot");
        let found = lines(&text);
        let expected = [
            "m.toml:4: machine[0].ssh: these are options or a command, and not a host. Use a host as ssh knows it, such as \"left\" or \
             \"me@left.example\"; options of ssh are for ~/.ssh/config.",
            "m.toml:6: machine[0].hosts: the experiment has 4 hosts, and no host 9. Use hosts from 0 to 3.",
            "m.toml:11: machine[1].address: that is the address of no single machine. Use the address of the machine in the network \
             that is measured, such as \"192.0.2.1\".",
            "m.toml:12: machine[1].prot: unknown key. Did you mean `port`?",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn names_that_could_be_options_or_directories_are_refused() {
        for name in ["-x", "--help", ".", "..", ".left", "a/b", "a b", "a\\u001b"] {
            let found = lines(&TWO.replace("\"left\"", &format!("\"{name}\"")));
            assert!(
                found[0].starts_with(
                    "m.toml:3: machine[0].name: that is not a valid name of a machine. Use 1 to 32 "
                ),
                "{found:?}"
            );
        }
        assert!(from_text("m.toml", &TWO.replace("\"left\"", "\"l-1.example_a\""), 4).is_ok());
    }

    #[test]
    fn a_machine_has_one_way_to_it() {
        let both = TWO.replace("hosts = \"2,3\"", "hosts = \"2,3\"\nsocket = \"/run/a\"");
        assert_eq!(
            lines(&both),
            [
                "m.toml:8: machine[1]: command and socket are ways to the same machine. Use one of ssh = \"user@host\", command = [...] \
              and socket = \"/path\"."
            ]
        );
        let none = TWO.replace("ssh = \"me@left\"\n", "");
        assert!(
            lines(&none)[0].starts_with("m.toml:2: machine[0]: nothing says how the machine is reached.")
        );
        let path = TWO.replace("ssh = \"me@left\"", "socket = \"agent\"");
        assert!(lines(&path)[0].starts_with("m.toml:4: machine[0].socket: the path is not absolute."));
    }

    #[test]
    fn each_host_is_on_one_machine_at_ports_of_its_own() {
        let found =
            lines(&TWO.replace("\"2,3\"", "\"1-2\"").replace("192.0.2.2", "::1").replace("right", "left"));
        assert_eq!(
            found,
            [
                "m.toml: machine: no machine has host 3. Use each host of the experiment once.",
                "m.toml:9: machine[1].name: there are two machines left. Use another name.",
                "m.toml:11: machine[1].address: packets do not go from 192.0.2.1 to ::1. Use addresses of one family, all or none of \
                 them those of loopback.",
                "m.toml:13: machine[1].hosts: host 1 is on machine left already. Use each host once.",
            ]
        );
        let mixed = lines(&TWO.replace("192.0.2.2", "127.0.0.1"));
        assert!(mixed[0].contains("packets do not go from 192.0.2.1 to 127.0.0.1"), "{mixed:?}");
        // Hosts 0 and 1 have ports 7077 and 7078.
        let near =
            |port: &str| from_text("m.toml", &TWO.replace("192.0.2.2", "192.0.2.1").replace("9000", port), 4);
        assert!(near("7078").unwrap_err().what.starts_with("machine left has hosts at this address"));
        assert!(near("7079").is_ok() && near("7075").is_ok());
        assert!(
            from_text("m.toml", "", 4)
                .unwrap_err()
                .to_string()
                .starts_with("m.toml: machine: the key is missing")
        );
        assert!(
            lines(&TWO.replace("9000", "65535"))[0]
                .contains("65535 is out of range. Use a whole number from 1 to 65534.")
        );
    }
}
