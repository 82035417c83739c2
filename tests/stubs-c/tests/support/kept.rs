//! What this process has compiled before, for tests that ask for the same once more: objects of
//! programs and stubs, and the header that every wrapper in C++ includes.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

/// All that decides what an object is: compiler, flags, and every text that is compiled.
pub type Inputs = Vec<Vec<u8>>;

/// By what decides it, something that whoever asks first makes, and others wait for.
struct Kept<T>(Mutex<BTreeMap<Inputs, Arc<OnceLock<T>>>>);

impl<T: Clone> Kept<T> {
    const fn nothing() -> Kept<T> {
        Kept(Mutex::new(BTreeMap::new()))
    }

    fn get(&self, inputs: Inputs, make: impl FnOnce() -> T) -> T {
        let mut all = self.0.lock().expect("nobody panics with it");
        let kept = Arc::clone(all.entry(inputs).or_default());
        drop(all);
        kept.get_or_init(make).clone()
    }
}

static OBJECTS: Kept<Arc<[u8]>> = Kept::nothing();

/// Has an object compiled to `object`, unless one of the same was: then it is a copy of that.
pub fn object(inputs: Inputs, object: &Path, compile: impl FnOnce()) {
    let bytes = OBJECTS.get(inputs, || {
        compile();
        std::fs::read(object).expect("it was compiled").into()
    });
    std::fs::write(object, bytes).expect("it can be written");
}

static HEADERS: Kept<PathBuf> = Kept::nothing();

/// A header that includes `nearcall.hpp` and is compiled ahead, for a compiler and flags:
/// `compile` is told the header, and where that compiler looks for what becomes of it. That is half
/// of the time that a compiler takes for most wrappers.
pub fn header(driver: &str, flags: &[&str], compile: impl FnOnce(&Path, &Path)) -> PathBuf {
    let inputs = [driver].iter().chain(flags).map(|word| word.as_bytes().to_vec()).collect();
    HEADERS.get(inputs, || {
        let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ahead");
        std::fs::create_dir_all(&place).expect("it can be made");
        // Flags may be more than the name of a file has room for.
        let mut hasher = DefaultHasher::new();
        flags.hash(&mut hasher);
        let header = place.join(format!("{driver}-{:016x}.hpp", hasher.finish()));
        let text = "#include \"nearcall.hpp\"\n";
        // What is older than its header a compiler does not take: another process may use it now.
        if std::fs::read_to_string(&header).ok().as_deref() != Some(text) {
            std::fs::write(&header, text).expect("it can be written");
        }
        let compiled = header.with_extension(if driver == "g++" { "hpp.gch" } else { "hpp.pch" });
        let own = compiled.with_extension(std::process::id().to_string());
        compile(&header, &own);
        std::fs::rename(own, compiled).expect("they are in one folder");
        header
    })
}
