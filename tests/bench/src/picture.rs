//! Pictures for the page: lines over two logarithmic axes, and groups of bars. Plain SVG, the same bytes for the same
//! numbers.

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 400.0;
const LEFT: f64 = 84.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 56.0;
const BOTTOM: f64 = 64.0;
const COLOURS: [&str; 4] = ["#8a8f98", "#2f7fd0", "#d9822b", "#3a9a5c"];

/// One line of a picture.
#[derive(Clone, Debug)]
pub struct Line {
    /// What the legend says.
    pub name: String,
    /// Points from left to right; both numbers above 0.
    pub points: Vec<(f64, f64)>,
}

/// Words around a picture.
#[derive(Clone, Copy, Debug)]
pub struct Words<'a> {
    /// Above it.
    pub title: &'a str,
    /// Under the horizontal axis.
    pub across: &'a str,
    /// Beside the vertical axis.
    pub up: &'a str,
}

/// Lines over logarithmic axes.
pub fn lines(words: Words<'_>, lines: &[Line]) -> String {
    let xs: Vec<f64> = lines
        .iter()
        .flat_map(|line| &line.points)
        .map(|point| point.0)
        .collect();
    let ys: Vec<f64> = lines
        .iter()
        .flat_map(|line| &line.points)
        .map(|point| point.1)
        .collect();
    let (across, up) = (
        Axis::of(&xs, LEFT, WIDTH - RIGHT),
        Axis::of(&ys, HEIGHT - BOTTOM, TOP),
    );
    let mut svg = frame(
        words,
        &lines.iter().map(|line| line.name.as_str()).collect::<Vec<_>>(),
    );
    for tick in up.decades() {
        rule(&mut svg, up.at(tick), &short(tick));
    }
    let mut ticks = xs.clone();
    ticks.sort_by(f64::total_cmp);
    ticks.dedup();
    let mut last = f64::NEG_INFINITY;
    for tick in ticks {
        let x = across.at(tick);
        if x - last > 34.0 {
            text(&mut svg, (x, HEIGHT - BOTTOM + 20.0), "middle", &short(tick));
            last = x;
        }
    }
    for (line, colour) in lines.iter().zip(COLOURS.iter().cycle()) {
        let spots: Vec<(f64, f64)> = line
            .points
            .iter()
            .map(|(x, y)| (across.at(*x), up.at(*y)))
            .collect();
        let path: Vec<String> = spots.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        put(
            &mut svg,
            &format!(
                r#"<polyline fill="none" stroke="{colour}" stroke-width="2.5" points="{}"/>"#,
                path.join(" ")
            ),
        );
        for (x, y) in spots {
            put(
                &mut svg,
                &format!(r#"<circle cx="{x:.1}" cy="{y:.1}" r="4" fill="{colour}"/>"#),
            );
        }
    }
    svg + "</svg>\n"
}

/// Groups of bars from 0; `rows` are (name of the group, one value for each of `series`), `mark` is drawn as a line across.
pub fn bars(words: Words<'_>, series: &[&str], rows: &[(String, Vec<f64>)], mark: Option<f64>) -> String {
    let most = rows
        .iter()
        .flat_map(|row| &row.1)
        .copied()
        .fold(mark.unwrap_or(0.0), f64::max);
    let (top, step) = nice(most);
    let height = HEIGHT - BOTTOM - TOP;
    let y = |value: f64| HEIGHT - BOTTOM - height * value / top;
    let mut svg = frame(words, series);
    let mut tick = 0.0;
    while tick <= top + step / 2.0 {
        rule(&mut svg, y(tick), &short(tick));
        tick += step;
    }
    let slot = (WIDTH - LEFT - RIGHT) / number(rows.len()).max(1.0);
    let bar = slot * 0.8 / number(series.len()).max(1.0);
    for (index, (name, values)) in rows.iter().enumerate() {
        let start = LEFT + slot * number(index) + slot * 0.1;
        for (place, (value, colour)) in values.iter().zip(COLOURS.iter().cycle()).enumerate() {
            let x = start + bar * number(place);
            let (top, tall) = (y(*value), HEIGHT - BOTTOM - y(*value));
            put(
                &mut svg,
                &format!(
                    r#"<rect x="{x:.1}" y="{top:.1}" width="{:.1}" height="{tall:.1}" fill="{colour}"/>"#,
                    bar * 0.92
                ),
            );
        }
        text(
            &mut svg,
            (start + slot * 0.4, HEIGHT - BOTTOM + 20.0),
            "middle",
            name,
        );
    }
    if let Some(mark) = mark {
        let y = y(mark);
        put(
            &mut svg,
            &format!(
                r##"<line x1="{LEFT}" y1="{y:.1}" x2="{:.1}" y2="{y:.1}" stroke="#c0392b" stroke-dasharray="6 4" stroke-width="1.5"/>"##,
                WIDTH - RIGHT
            ),
        );
    }
    svg + "</svg>\n"
}

/// A logarithmic axis from whole decades to whole decades.
struct Axis {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Axis {
    fn of(values: &[f64], from: f64, to: f64) -> Axis {
        let logs: Vec<f64> = values
            .iter()
            .filter(|value| **value > 0.0)
            .map(|value| value.log10())
            .collect();
        let low = logs.iter().copied().fold(f64::INFINITY, f64::min);
        let high = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let (low, high) = if logs.is_empty() {
            (0.0, 1.0)
        } else {
            (low.floor(), high.ceil())
        };
        Axis {
            low,
            high: if high > low { high } else { low + 1.0 },
            from,
            to,
        }
    }

    fn at(&self, value: f64) -> f64 {
        let part = (value.max(1e-9).log10() - self.low) / (self.high - self.low);
        self.from + (self.to - self.from) * part.clamp(0.0, 1.0)
    }

    fn decades(&self) -> Vec<f64> {
        let mut all = Vec::new();
        let mut power = self.low;
        while power <= self.high + 0.5 {
            all.push(10f64.powf(power));
            power += 1.0;
        }
        all
    }
}

fn frame(words: Words<'_>, names: &[&str]) -> String {
    let mut svg = format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="system-ui, sans-serif" font-size="12" fill="#333"><rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>"##
    );
    svg.push('\n');
    put(
        &mut svg,
        &format!(
            r#"<text x="{LEFT}" y="22" font-size="15" font-weight="600">{}</text>"#,
            escape(words.title)
        ),
    );
    text(
        &mut svg,
        ((LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 12.0),
        "middle",
        words.across,
    );
    let middle = (TOP + HEIGHT - BOTTOM) / 2.0;
    put(
        &mut svg,
        &format!(
            r#"<text transform="translate(18 {middle}) rotate(-90)" text-anchor="middle">{}</text>"#,
            escape(words.up)
        ),
    );
    let mut x = LEFT;
    for (name, colour) in names.iter().zip(COLOURS.iter().cycle()) {
        put(
            &mut svg,
            &format!(r#"<rect x="{x:.1}" y="34" width="12" height="12" fill="{colour}"/>"#),
        );
        text(&mut svg, (x + 17.0, 44.0), "start", name);
        x += 40.0 + 6.6 * number(name.chars().count());
    }
    svg
}

fn rule(svg: &mut String, y: f64, label: &str) {
    put(
        svg,
        &format!(
            r##"<line x1="{LEFT}" y1="{y:.1}" x2="{:.1}" y2="{y:.1}" stroke="#e3e5e8"/>"##,
            WIDTH - RIGHT
        ),
    );
    text(svg, (LEFT - 8.0, y + 4.0), "end", label);
}

fn text(svg: &mut String, at: (f64, f64), anchor: &str, words: &str) {
    put(
        svg,
        &format!(
            r#"<text x="{:.1}" y="{:.1}" text-anchor="{anchor}">{}</text>"#,
            at.0,
            at.1,
            escape(words)
        ),
    );
}

fn put(svg: &mut String, line: &str) {
    svg.push_str(line);
    svg.push('\n');
}

fn escape(words: &str) -> String {
    words
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// 1200 as `1.2k`, 3000000 as `3M`.
fn short(value: f64) -> String {
    let (part, unit) = match value {
        _ if value >= 1e6 => (value / 1e6, "M"),
        _ if value >= 1e3 => (value / 1e3, "k"),
        _ => (value, ""),
    };
    let text = format!("{part:.2}");
    format!("{}{unit}", text.trim_end_matches('0').trim_end_matches('.'))
}

/// The end of an axis from 0, and the distance of its ticks.
fn nice(most: f64) -> (f64, f64) {
    let rough = (most / 5.0).max(1e-9);
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * power)
        .find(|step| *step >= rough)
        .unwrap_or(10.0 * power);
    ((most / step).ceil().max(1.0) * step, step)
}

fn number(count: usize) -> f64 {
    crate::outcome::count(count)
}

#[cfg(test)]
mod tests {
    use super::{Line, Words, bars, lines, nice, short};

    const WORDS: Words<'_> = Words {
        title: "A & B",
        across: "pods",
        up: "per second",
    };

    #[test]
    fn numbers_are_short() {
        for (value, want) in [
            (0.0, "0"),
            (0.25, "0.25"),
            (100.0, "100"),
            (1200.0, "1.2k"),
            (3e6, "3M"),
        ] {
            assert_eq!(short(value), want);
        }
    }

    #[test]
    fn axes_end_above_the_most() {
        for most in [0.3, 1.0, 7.0, 42.0, 999.0] {
            let (top, step) = nice(most);
            assert!(
                top >= most && step > 0.0 && top / step <= 11.0,
                "{most}: {top} by {step}"
            );
        }
    }

    #[test]
    fn pictures_are_whole_documents() {
        let line = Line {
            name: "one".into(),
            points: vec![(100.0, 5.0), (1000.0, 50.0)],
        };
        for svg in [
            lines(WORDS, &[line]),
            bars(WORDS, &["one"], &[("x".into(), vec![1.0])], Some(1.0)),
        ] {
            assert!(
                svg.starts_with("<svg") && svg.ends_with("</svg>\n") && svg.contains("A &amp; B"),
                "{svg}"
            );
        }
    }

    #[test]
    fn nothing_to_draw_is_no_mistake() {
        assert!(lines(WORDS, &[]).contains("</svg>"));
        assert!(bars(WORDS, &[], &[], None).contains("</svg>"));
    }
}
