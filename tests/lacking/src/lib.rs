//! A check that does nothing for want of something passes, and nobody sees that it has checked
//! nothing: libtest hides what passing tests print. So every check says by [`lacking`] what it
//! lacks, and CI, which is to have everything, fails there, but for what is named here.

#![forbid(unsafe_code)]

/// What CI may lack, too, as checks call it: what takes rights over the whole machine, which a
/// container does not have, and what is the machine's own: the compiler that committed assembly is
/// of, and what its kernel was built with.
pub const MAY_LACK: [&str; 8] = [
    "gcc 12.2.0",
    "hugetlbfs",
    "a control group",
    "a control group that freezes",
    "a memory control group",
    "a pid namespace",
    "a time namespace",
    "the right to mount a file system",
];

/// Whether this is CI, which is to have everything else.
pub fn is_ci() -> bool {
    std::env::var_os("CI").is_some()
}

/// What a check says that does nothing for want of this; it has failed where that is an error.
pub fn excuse(is_ci: bool, what: &str) -> Result<String, String> {
    match is_ci && !MAY_LACK.contains(&what) {
        true => Err(format!("CI has to have {what}")),
        false => Ok(format!("skipped: this machine lacks {what}")),
    }
}

/// Says that a test does nothing for want of something. What it lacks is to be known, not to be
/// concluded from the failure of what is tested.
///
/// # Panics: this is CI, and has to have it.
#[track_caller]
pub fn lacking(what: &str) {
    match excuse(is_ci(), what) {
        Ok(excuse) => eprintln!("{excuse}"),
        Err(failure) => panic!("{failure}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_fails_in_ci_alone() {
        assert_eq!(excuse(true, "cats").unwrap_err(), "CI has to have cats");
        assert_eq!(excuse(false, "cats").unwrap(), "skipped: this machine lacks cats");
    }

    #[test]
    fn what_ci_may_lack_is_excused_by_its_whole_name() {
        let name = MAY_LACK[0];
        assert_eq!(excuse(true, name).unwrap(), format!("skipped: this machine lacks {name}"));
        assert!(excuse(true, &name[..name.len() - 1]).is_err());
    }
}
