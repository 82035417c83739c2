//! A table's plots: which lines of it make which, and how they are drawn.
//!
//! One plot for each class of placement that was met, because times of two cannot be compared. The
//! axis of values is logarithmic: what is shown lies orders of magnitude apart.

use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::{quantity, time};
use crate::child::Failure;
use crate::statistics::{extremes, median};
use crate::table::{Measured, OURS};

/// Pixels of a plot.
const SIZE: (u32, u32) = (1100, 420);

/// Room for the names of the cases.
const NAMES_PX: u32 = 30;

/// Room for who is who.
const LEGEND_PX: u32 = 170;

/// Whatever the reader's browser has.
const FONT: &str = "sans-serif";

/// Labels of the axis of values, about: one for each power of ten.
const LABELS: usize = 8;

/// Colours that differ for those too who see fewer of them (Okabe and Ito), and three more. The
/// first is Nearcall's.
const COLOURS: [RGBColor; 11] = [
    RGBColor(0, 114, 178),
    RGBColor(230, 159, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(213, 94, 0),
    RGBColor(240, 228, 66),
    RGBColor(60, 60, 60),
    RGBColor(150, 120, 90),
    RGBColor(160, 160, 160),
    RGBColor(120, 40, 140),
];

/// Of a category's width, what its bars take.
const BARS: f64 = 0.8;

/// How values are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One bar for each, in groups: what has no order.
    Bars,
    /// From one to the next: what grows.
    Lines,
}

/// What values are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds.
    Time,
    /// Bytes a second.
    Rate,
}

/// A plot, with all that is in it.
#[derive(Clone, Debug)]
pub struct Plot {
    title: String,
    kind: Kind,
    unit: Unit,
    /// The names along the horizontal axis.
    names: Vec<String>,
    series: Vec<Series>,
}

/// What belongs together.
#[derive(Clone, Debug)]
struct Series {
    name: String,
    /// Values at names, by their index; several of one name are of several rounds.
    values: Vec<(usize, Vec<f64>)>,
}

/// A value of a line: its series, its name on the axis, and how much.
type Point = (String, String, f64);

/// What a table's lines become.
struct Recipe {
    title: &'static str,
    kind: Kind,
    unit: Unit,
    points: fn(&Measured) -> Vec<Point>,
}

/// The plots of a table, by its name.
pub fn of_table(table: &str, lines: &[Measured]) -> Vec<Plot> {
    let recipe = recipe(table);
    let mut plots = Vec::new();
    for placement in ["near", "far", "one"] {
        let of_class = lines.iter().filter(|line| line.placement == placement);
        let points: Vec<Point> = of_class.flat_map(recipe.points).collect();
        let points = points.into_iter().filter(|(.., value)| *value > 0.0);
        let title = format!("{table}: {}, {placement}", recipe.title);
        let mut plot = Plot::new(title, recipe.kind, recipe.unit);
        points.for_each(|point| plot.add(point));
        plot.series.sort_by_key(|series| !series.name.starts_with(OURS));
        if !plot.series.is_empty() {
            plots.push(plot);
        }
    }
    plots
}

fn recipe(table: &str) -> Recipe {
    let bars =
        |points| Recipe { title: "p50 of a call", kind: Kind::Bars, unit: Unit::Time, points };
    match table {
        "size" => Recipe {
            title: "bytes a second",
            kind: Kind::Lines,
            unit: Unit::Rate,
            points: |line| {
                let rate = line.bytes_per_s.unwrap_or(0.0);
                vec![(line.subject.clone(), line.case.clone(), rate)]
            },
        },
        "scale" => Recipe {
            kind: Kind::Lines,
            points: |line| {
                let (series, name) = line.case.split_once('-').unwrap_or((&line.case, ""));
                let is_ours = line.subject == OURS && line.against.is_some();
                let series = match (is_ours, &*line.subject) {
                    (true, ours) => format!("{ours} {series}"),
                    (false, OURS) => format!("{OURS} alone"),
                    (false, bound) => bound.to_owned(),
                };
                vec![(series, name.to_owned(), line.p50_ns)]
            },
            ..bars(|_| Vec::new())
        },
        "urpc" => Recipe {
            title: "p50 of a call, over the number of threads",
            kind: Kind::Lines,
            points: |line| {
                let (series, name) = line.case.split_once('-').unwrap_or((&line.case, ""));
                let series = format!("{} {series}", line.subject);
                vec![(series, name.to_owned(), line.p50_ns)]
            },
            ..bars(|_| Vec::new())
        },
        "policy" => Recipe {
            title: "p50 and p99 of a call",
            ..bars(|line| {
                // What is compared with is the same case without hogs.
                if line.against.is_none() && line.case.starts_with("hog") {
                    return Vec::new();
                }
                let point = |what: &str, value| {
                    (format!("{} {what}", line.subject), line.case.clone(), value)
                };
                vec![point("p50", line.p50_ns), point("p99", line.p99_ns)]
            })
        },
        "cost" => Recipe {
            title: "p50 of each part of a Null",
            ..bars(|line| {
                // The bound is the same for all of them.
                let is_needless = line.against.is_none() && line.case != "null";
                let point = (line.subject.clone(), line.case.clone(), line.p50_ns);
                if is_needless { Vec::new() } else { vec![point] }
            })
        },
        _ => bars(|line| vec![(line.subject.clone(), line.case.clone(), line.p50_ns)]),
    }
}

impl Plot {
    fn new(title: String, kind: Kind, unit: Unit) -> Plot {
        Plot { title, kind, unit, names: Vec::new(), series: Vec::new() }
    }

    fn add(&mut self, (series, name, value): Point) {
        let at = index_of(&mut self.names, |known| *known == name, || name.clone());
        let new = || Series { name: series.clone(), values: Vec::new() };
        let series = index_of(&mut self.series, |known| known.name == series, new);
        let values = &mut self.series[series].values;
        let here = index_of(values, |(known, _)| *known == at, || (at, Vec::new()));
        values[here].1.push(value);
    }

    /// As SVG.
    pub fn draw(&self) -> Result<String, Failure> {
        let mut svg = String::new();
        {
            let root = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
            root.fill(&WHITE)?;
            let (left, legend) = root.split_horizontally(SIZE.0 - LEGEND_PX);
            let (upper, lower) = left.split_vertically(SIZE.1 - NAMES_PX);
            let mut chart = ChartBuilder::on(&upper)
                .caption(&self.title, (FONT, 18))
                .margin(8)
                .y_label_area_size(70)
                .build_cartesian_2d(0.0..self.names.len() as f64, self.range().log_scale())?;
            let format = |value: &f64| self.format(*value);
            chart
                .configure_mesh()
                .disable_x_axis()
                .disable_x_mesh()
                .y_labels(LABELS)
                .y_label_formatter(&format)
                .label_style((FONT, 12))
                .draw()?;
            self.draw_series(&mut chart)?;
            self.draw_names(&chart, &lower)?;
            self.draw_legend(&legend)?;
            root.present()?;
        }
        Ok(svg)
    }

    /// Whole powers of ten, from below the smallest to above the largest.
    fn range(&self) -> std::ops::Range<f64> {
        let values = self.series.iter().flat_map(|series| &series.values);
        let values: Vec<f64> = values.flat_map(|(_, values)| values).copied().collect();
        let (smallest, largest) = extremes(&values);
        // A little below, so that no bar is without height.
        10_f64.powf((smallest / 1.1).log10().floor())..10_f64.powf(largest.log10().ceil())
    }

    fn format(&self, value: f64) -> String {
        match self.unit {
            Unit::Time => time(value),
            Unit::Rate => format!("{}B/s", quantity(value)),
        }
    }

    fn draw_series(&self, chart: &mut Chart<'_, '_>) -> Result<(), Failure> {
        let floor = self.range().start;
        let width = BARS / self.series.len() as f64;
        for (index, series) in self.series.iter().enumerate() {
            let colour = colour(index);
            let points = series.values.iter().map(|(at, values)| (*at as f64, median(values)));
            match self.kind {
                Kind::Lines => {
                    let points = points.map(|(at, value)| (at + 0.5, value));
                    let line = LineSeries::new(points, colour.stroke_width(2)).point_size(3);
                    chart.draw_series(line)?;
                }
                Kind::Bars => {
                    chart.draw_series(points.map(|(at, value)| {
                        let left = at + (1.0 - BARS) / 2.0 + width * index as f64;
                        let corners = [(left, floor), (left + width * 0.92, value)];
                        Rectangle::new(corners, colour.filled())
                    }))?;
                }
            }
        }
        Ok(())
    }

    /// Below the middle of each category.
    fn draw_names(&self, chart: &Chart<'_, '_>, area: &Area<'_>) -> Result<(), Failure> {
        let style = TextStyle::from((FONT, 12).into_font());
        let style = style.pos(Pos::new(HPos::Center, VPos::Top));
        for (index, name) in self.names.iter().enumerate() {
            let (x, _) = chart.backend_coord(&(index as f64 + 0.5, self.range().start));
            area.draw(&Text::new(name.clone(), (x, 0), style.clone()))?;
        }
        Ok(())
    }

    /// Which colour is whose.
    fn draw_legend(&self, area: &Area<'_>) -> Result<(), Failure> {
        let style = TextStyle::from((FONT, 13).into_font());
        let style = style.pos(Pos::new(HPos::Left, VPos::Center));
        for (index, series) in self.series.iter().enumerate() {
            let y = 50 + 20 * index as i32;
            area.draw(&Rectangle::new([(6, y - 6), (18, y + 6)], colour(index).filled()))?;
            area.draw(&Text::new(series.name.clone(), (26, y), style.clone()))?;
        }
        Ok(())
    }
}

fn colour(index: usize) -> RGBColor {
    COLOURS[index % COLOURS.len()]
}

type Area<'s> = DrawingArea<SVGBackend<'s>, plotters::coord::Shift>;

type Chart<'c, 's> = ChartContext<'c, SVGBackend<'s>, Cartesian2d<RangedCoordf64, LogCoord<f64>>>;

/// Where that one stands; it is made if it is not there.
fn index_of<T>(all: &mut Vec<T>, is_it: impl Fn(&T) -> bool, make: impl FnOnce() -> T) -> usize {
    all.iter().position(is_it).unwrap_or_else(|| {
        all.push(make());
        all.len() - 1
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot() -> Plot {
        let mut plot = Plot::new("peers".to_owned(), Kind::Bars, Unit::Time);
        for (series, name, value) in
            [("nearcall", "null", 60.0), ("nearcall", "null", 80.0), ("tonic-uds", "add", 3e4)]
        {
            plot.add((series.to_owned(), name.to_owned(), value));
        }
        plot
    }

    #[test]
    fn several_values_of_one_name_are_of_several_rounds() {
        let plot = plot();
        assert_eq!(plot.names, ["null", "add"]);
        assert_eq!(plot.series[0].values, [(0, vec![60.0, 80.0])]);
        assert_eq!(plot.series[1].values, [(1, vec![3e4])]);
    }

    #[test]
    fn a_drawing_names_what_it_shows() {
        for kind in [Kind::Bars, Kind::Lines] {
            let svg = Plot { kind, ..plot() }.draw().unwrap();
            assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"), "{svg}");
            for part in ["nearcall", "tonic-uds", "null", "add", "peers"] {
                assert!(svg.contains(part), "{part}");
            }
        }
    }
}
