//! Instants of logs: dates with a clock, or seconds since an epoch.

use super::collect::{Collector, digits};

const SECOND_PS: u128 = 1_000_000_000_000;

/// Parses `2024-05-01 12:00:00.125`, with `Z`, `+0200` or `+02:00` behind it or not (then UTC), or seconds since an
/// epoch; returns picoseconds since the Unix epoch or that epoch.
pub(super) fn instant(into: &mut Collector<'_>, text: &str) -> Option<u128> {
    let Some((date, time)) = text.split_once([' ', 'T']) else { return into.try_time(text, 12) };
    let mut date = date.split('-').map(digits);
    let (year, month, day) = (date.next()??, date.next()??, date.next()??);
    let (time, east_s) = zone(time)?;
    let mut clock = time.splitn(3, ':');
    let (hour, minute) = (digits(clock.next()?)?, digits(clock.next()?)?);
    let seconds = into.try_time(clock.next()?, 12)?;
    let legal = date.next().is_none()
        && (1970..10_000).contains(&year)
        && (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && hour < 24
        && minute < 60
        && seconds < 61 * SECOND_PS;
    if !legal {
        return None;
    }
    let minutes = (days(year, month, day) * 24 + hour) * 60 + minute;
    let local = u128::from(minutes) * 60 * SECOND_PS + seconds;
    local.checked_add_signed(-i128::from(east_s) * SECOND_PS as i128)
}

/// Splits a clock from its zone, which is returned in seconds east of UTC.
fn zone(time: &str) -> Option<(&str, i64)> {
    if let Some(time) = time.strip_suffix('Z') {
        return Some((time, 0));
    }
    let Some(place) = time.find(['+', '-']) else { return Some((time, 0)) };
    let offset = time[place + 1..].replacen(':', "", 1);
    let offset = digits(&offset).filter(|_| offset.len() == 4)?;
    let seconds = (offset / 100 * 3600 + offset % 100 * 60) as i64;
    Some((&time[..place], if time[place..].starts_with('-') { -seconds } else { seconds }))
}

/// Returns the days from 1970-01-01 to a date of the Gregorian calendar, in or after 1970.
fn days(year: u64, month: u64, day: u64) -> u64 {
    // Years that begin in March end with the leap day.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 719_469
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_days() {
        assert_eq!((days(1970, 1, 1), days(1970, 3, 1), days(2000, 2, 29)), (0, 59, 11_016));
        // 2024-05-01 00:00:00 UTC is 1714521600.
        assert_eq!(days(2024, 5, 1) * 86_400, 1_714_521_600);
    }

    #[test]
    fn instants_have_a_legal_date_and_clock() {
        let options = crate::import::Options::default();
        let mut into = Collector::new(&options);
        let mut at = |text: &str| instant(&mut into, text);
        assert_eq!(at("1970-01-02 00:00:01.5"), Some(86_401_500_000_000_000));
        assert_eq!(at("1714521600.25"), Some(1_714_521_600_250_000_000_000));
        let never = [
            "1970-01-01 18446744073709551615:0:0",
            "1970-01-01 24:00:00",
            "1969-12-31 00:00:00",
            "1970-00-01 0:0:0",
            "1970-01-01T00:30:00+0100",
        ];
        let odd = [
            "1970-1 0:0:0",
            "1970-01-01 0:0",
            "1970-01-01 0:0:62",
            "99999-01-01 0:0:0",
            "1970-01-01-01 0:0:0",
            "1970-01-02 0:0:0+1",
            "1970-01-02 0:0:0+١٠٠",
            "",
        ];
        assert!(never.into_iter().chain(odd).all(|text| at(text).is_none()));
    }

    #[test]
    fn zones_are_subtracted() {
        let options = crate::import::Options::default();
        let mut into = Collector::new(&options);
        let expected = Some(1_714_521_600 * SECOND_PS);
        for text in [
            "2024-05-01T00:00:00Z",
            "2024-05-01T02:00:00+0200",
            "2024-05-01T02:00:00+02:00",
            "2024-04-30T18:30:00-0530",
        ] {
            assert_eq!(instant(&mut into, text), expected, "{text}");
        }
    }
}
