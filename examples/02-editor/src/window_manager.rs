//! The window manager: draws in the terminal, or prints a line for each row that is drawn if there
//! is none.

use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::owned::Owned;
use crate::windows::{
    ROWS_MAX, Refused, WindowId, WindowsCloseException, WindowsDrawException, WindowsOpenException,
    WindowsServer,
};

/// Serves windows on its standard output.
#[derive(Debug, Default)]
pub struct WindowManager {
    windows: Mutex<Owned<Window>>,
}

#[derive(Debug)]
struct Window {
    title: String,
    rows: u32,
    /// Row of the screen that its first row is in.
    top: u32,
}

impl WindowManager {
    fn windows(&self) -> MutexGuard<'_, Owned<Window>> {
        self.windows.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn try_open(&self, title: &str, rows: u32) -> Result<WindowId, String> {
        if rows == 0 || rows > ROWS_MAX {
            return Err(format!("a window of {rows} rows; it has 1 to {ROWS_MAX}"));
        }
        let mut windows = self.windows();
        let top = windows.iter().map(|window| window.top + window.rows).max().unwrap_or(0);
        let id = windows.insert(Window { title: printable(title), rows, top })?;
        if io::stdout().is_terminal() {
            let clear = if top == 0 { "\x1b[2J" } else { "" };
            // Whoever types does so below.
            show(&format!("{clear}\x1b[{};1H", top + rows + 1))?;
        }
        Ok(id)
    }

    fn try_draw(&self, id: WindowId, row: u32, text: &str) -> Result<(), String> {
        let mut windows = self.windows();
        let Window { title, rows, top } = windows.find(id)?;
        if row >= *rows {
            return Err(format!("row {row} of a window of {rows} rows"));
        }
        let text = printable(text);
        match io::stdout().is_terminal() {
            true => show(&format!("\x1b7\x1b[{};1H\x1b[2K{text}\x1b8", *top + row + 1)),
            false => show(&format!("{title} {row:>3} {text}\n")),
        }
    }
}

/// As the terminal may get it: a client is not to drive it.
fn printable(text: &str) -> String {
    text.replace(char::is_control, "\u{fffd}")
}

fn show(text: &str) -> Result<(), String> {
    let mut output = io::stdout().lock();
    let shown = output.write_all(text.as_bytes()).and_then(|()| output.flush());
    shown.map_err(|error| format!("the screen takes no more: {error}"))
}

impl WindowsServer for WindowManager {
    fn open(&self, title: &str, rows: u32) -> Result<WindowId, WindowsOpenException> {
        self.try_open(title, rows).map_err(|reason| Refused { reason }.into())
    }

    fn draw(&self, window: WindowId, row: u32, text: &str) -> Result<(), WindowsDrawException> {
        self.try_draw(window, row, text).map_err(|reason| Refused { reason }.into())
    }

    fn close(&self, window: WindowId) -> Result<(), WindowsCloseException> {
        let closed = self.windows().remove(window);
        closed.map(drop).map_err(|reason| Refused { reason }.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_cannot_drive_the_terminal() {
        assert_eq!(printable("a\x1b[2J\nb é"), "a\u{fffd}[2J\u{fffd}b é");
    }
}
