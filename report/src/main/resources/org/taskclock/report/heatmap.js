// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// Heatmaps of threads and time. A part of report.js, whose functions it uses.

const MIN_COLUMN_WIDTH = 1.5; // pixels
const MIN_CPU = 1; // percent of a core; the share of system time in less is not shown
const ROUND_SECONDS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400];
const HEAT = {
  cpu: {light: ['#ffffff', '#fde3a7', '#f7a35c', '#d8432f', '#7a1030'], dark: ['#1d2129', '#4a2545', '#a3304f', '#ef7b45', '#ffe9a8']},
  system: {light: ['#2f6fd0', '#b9a7c9', '#d9691e'], dark: ['#4c86e6', '#8d7f98', '#ff9d57']},
};

/** Returns the colors of a scale that distinguishes small values, on which most threads are, better than large ones. */
function squareRootScale(colors) {
  const part = (hex, at) => parseInt(hex.slice(at, at + 2), 16), steps = 32;
  return Array.from({length: steps + 1}, (_, i) => {
    const place = Math.sqrt(i / steps) * (colors.length - 1), low = Math.min(Math.floor(place), colors.length - 2);
    const mix = at => Math.round(part(colors[low], at) + (place - low) * (part(colors[low + 1], at) - part(colors[low], at)));
    return `rgb(${mix(1)},${mix(3)},${mix(5)})`;
  });
}

/** Merges neighboring columns, so that each is wide enough to be seen. Columns without data are -1. */
function merged(values, size) {
  const out = [];
  for (let i = 0; i < values.length; i += size) {
    const known = values.slice(i, i + size).filter(value => value >= 0);
    out.push(known.length ? known.reduce((a, b) => a + b, 0) / known.length : -1);
  }
  return out;
}

/** The end of a color scale: a round number at or above the highest value of a single thread, at most 100. */
function scaleEnd(rows) {
  const highest = rows.filter(row => row.tid !== 0).flatMap(row => row.cpu).reduce((a, b) => Math.max(a, b), 0);
  return [1, 2, 5, 10, 20, 50].find(end => highest <= end) || 100;
}

function choice(element) {
  const box = document.createElement('div');
  box.className = 'choice';
  for (const [value, text] of [['cpu', 'CPU time'], ['system', 'Share of system time']]) {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = text;
    button.dataset.value = value;
    button.onclick = () => { element.dataset.shows = value; draw(element); };
    box.append(button);
  }
  element.before(box);
  element.dataset.shows = 'cpu';
}

function heatmaps(element, result) {
  if (!element.dataset.shows) choice(element);
  const shows = element.dataset.shows;
  for (const button of element.previousElementSibling.children) {
    button.setAttribute('aria-pressed', button.dataset.value === shows);
  }
  const chart = result.heatmaps[element.dataset.index];
  const width = element.clientWidth, narrow = width < NARROW;
  const option = base();
  ruler.font = '11.5px ' + option.textStyle.fontFamily;
  const longest = chart.rows.reduce((length, row) => Math.max(length, ruler.measureText(row.name).width), 60);
  const nameWidth = Math.min(longest + 8, 260, width * 0.32);
  const plotWidth = Math.max(60, width - nameWidth - 50);
  const total = Math.max(0, ...chart.rows.map(row => row.cpu.length));
  const size = Math.max(1, Math.ceil(total * MIN_COLUMN_WIDTH / plotWidth));
  const step = chart.step * size;
  const rows = chart.rows.map(row => ({...row, cpu: merged(row.cpu, size), user: merged(row.user, size)}));
  const columns = Math.ceil(total / size);
  const many = columns > 60;
  const rowHeight = rows.length <= 12 ? 26 : rows.length <= 25 ? 20 : 16;
  const top = 44, bottom = many ? 76 : 46;
  element.style.height = top + bottom + rows.length * rowHeight + 'px';

  const started = startOf(result), wall = isFinite(started);
  const millis = column => (wall ? started : 0) + (chart.start + column * step) * 1000;
  const time = column => wall ? timeWithin(result, millis(column)) : number(millis(column) / 1000);
  const offset = wall ? zoneOffset(started) : 0;
  // Labels are at round times; there are more of them when the chart is zoomed.
  const labelSeconds = () => ROUND_SECONDS.find(
    seconds => columns * step * (element.dataset.visible || 1) / seconds <= plotWidth / (seconds % 60 ? 66 : 50)) || 86400;
  const slot = column => Math.floor((millis(column) + offset) / 1000 / labelSeconds());
  const label = column => {
    const at = slot(+column) * labelSeconds() * 1000 - offset;
    return wall ? timeLabel(at) : number(at / 1000);
  };
  const isLabeled = column => column > 0 ? slot(column) !== slot(column - 1) : slot(0) === slot(columns - 1);

  const cells = [];
  rows.forEach((row, y) => row.cpu.forEach((cpu, x) => {
    const user = row.user[x];
    if (cpu < 0) return;
    const system = user < 0 || cpu < MIN_CPU ? null : 100 * Math.max(0, cpu - user) / cpu;
    if (shows === 'cpu') cells.push([x, y, cpu]);
    else if (system !== null) cells.push([x, y, system]);
  }));
  const gaps = rows.length > 0 && rows[0].cpu.some(cpu => cpu < 0);
  const end = shows === 'cpu' ? scaleEnd(rows) : 100;
  note(element, [
    shows === 'cpu' ? 'A color is the mean over one column.' : `Only where a thread used at least ${MIN_CPU} % of a core.`,
    `A column is ${number(Math.round(step * 1000) / 1000)} s.`,
    shows === 'cpu' && gaps ? 'Gray: not recorded.' : '',
    shows === 'cpu' && end < 100 ? `The scale ends at ${end} % because no thread used more.` : '',
  ].filter(Boolean).join(' '));

  const maxLength = longest + 8 <= nameWidth ? Infinity : Math.floor(nameWidth / 6.6);
  option.legend.show = false;
  option.grid = {
    left: nameWidth + 8, right: 20, top, bottom, show: true, borderWidth: 0,
    backgroundColor: shows === 'cpu' ? color('grid') : color('card'),
  };
  option.xAxis = axis({
    type: 'category', data: Array.from({length: columns}, (_, i) => i), name: wall ? `time (${zone})` : 'seconds since the start', nameGap: 24,
    axisLabel: {
      color: color('muted'), hideOverlap: true, interval: isLabeled, formatter: label,
    },
  });
  option.yAxis = axis({
    type: 'category', inverse: true, data: rows.map((_, i) => i), axisLine: {show: false},
    axisLabel: {
      color: color('text'), interval: 0, fontSize: 11.5, margin: 6,
      formatter: i => shortened(rows[i].name, maxLength),
    },
  });
  option.visualMap = {
    type: 'continuous', min: 0, max: end, dimension: 2, orient: 'horizontal', left: narrow ? 0 : nameWidth + 8, top: 4, padding: 4,
    itemWidth: 12, itemHeight: narrow ? 90 : 160, hoverLink: false, textStyle: {color: color('text')},
    text: shows === 'cpu' ? [`${end} % of a core`, '0 %'] : ['all system', 'all user'],
    inRange: {color: shows === 'cpu' ? squareRootScale(HEAT.cpu[isDark() ? 'dark' : 'light']) : HEAT.system[isDark() ? 'dark' : 'light']},
  };
  if (many) option.dataZoom = zoom(column => time(Math.max(0, +column || 0)), 'filter');
  option.tooltip.trigger = 'item';
  option.tooltip.formatter = at => {
    const [x, y] = at.value, row = rows[y], cpu = row.cpu[x], user = row.user[x];
    const unit = '% of a core', figure = value => withUnit(Math.round(value * 100) / 100, unit);
    const lines = [
      ['', 'CPU', figure(cpu)],
      ['', 'user', user < 0 ? 'unknown' : figure(user)],
      ['', 'system', user < 0 ? 'unknown' : figure(Math.max(0, cpu - user))],
    ];
    const box = tip(row.tid ? `${row.name} (tid ${row.tid})` : row.name, lines);
    const when = document.createElement('div');
    when.textContent = wall ? `${time(x)} to ${time(x + 1)} (${zone})` : `${time(x)} to ${time(x + 1)} s`;
    box.firstChild.after(when);
    return box;
  };
  option.series = [{
    type: 'heatmap', data: cells, progressive: 0, animation: false, itemStyle: {borderWidth: 0},
    emphasis: {itemStyle: {borderColor: color('text'), borderWidth: 1}},
  }];
  return option;
}
