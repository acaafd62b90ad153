//! Text that others wrote: bounded, on one line, and unable to steer a terminal or reorder a page.

use std::fmt::Write as _;

/// The text on one line: control and invisible characters are spelled out, white space is one space, and what exceeds `most`
/// characters is cut with a mark. Markup is the renderer's business: the page escapes, the terminal has none.
pub fn clean(text: &str, most: usize) -> String {
    let mut out = String::new();
    let mut count = 0;
    let mut space = false;
    for c in text.chars() {
        if c.is_whitespace() {
            space = count > 0;
            continue;
        }
        let piece = if steers(c) { format!("\\u{{{:x}}}", u32::from(c)) } else { c.to_string() };
        let length = piece.chars().count() + usize::from(space);
        if count + length > most {
            cut(&mut out, most);
            return out;
        }
        if std::mem::take(&mut space) {
            out.push(' ');
        }
        let _ = write!(out, "{piece}");
        count += length;
    }
    out
}

fn cut(out: &mut String, most: usize) {
    let keep = out.char_indices().nth(most.saturating_sub(3)).map_or(out.len(), |(at, _)| at);
    out.truncate(keep);
    out.push_str("...");
}

/// Characters that move a cursor, or that reorder or hide text.
fn steers(c: char) -> bool {
    let hides = matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}');
    hides || matches!(c, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}') || c.is_control()
}

/// Breaks a text into lines of at most `width` characters, at spaces where there are any.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        let mut word: Vec<char> = word.chars().collect();
        if !line.is_empty() && line.chars().count() + 1 + word.len() > width {
            lines.push(std::mem::take(&mut line));
        }
        while word.len() > width {
            let rest = word.split_off(width);
            lines.push(word.into_iter().collect());
            word = rest;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.extend(word);
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_text_is_one_short_visible_line() {
        let text = clean("a\u{1b}[2J\n\n b\u{202e}c", 80);
        assert_eq!(text, "a\\u{1b}[2J b\\u{202e}c");
        let long = clean(&"x".repeat(5000), 20);
        assert_eq!((long.len(), long.ends_with("...")), (20, true));
        assert!(clean(&"\u{202e}".repeat(99), 20).chars().count() <= 20);
    }

    #[test]
    fn lines_never_exceed_the_width() {
        let lines = wrap(&format!("one two {} three", "y".repeat(25)), 10);
        assert!(lines.iter().all(|line| line.chars().count() <= 10), "{lines:?}");
        assert_eq!(lines.concat().replace(' ', ""), format!("onetwo{}three", "y".repeat(25)));
    }
}
