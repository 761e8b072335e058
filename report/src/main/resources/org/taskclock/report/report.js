// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
'use strict';
(() => {
  // Replaces the same characters as HtmlBuilder: control characters and those that change the direction of text.
  const disallowed = /(?![\n\t])[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;
  const results = JSON.parse(
    document.getElementById('results').textContent, (key, value) => typeof value === 'string' ? value.replace(disallowed, '\ufffd') : value);
  const root = document.documentElement;
  const LIGHT = ['#2f6fd0', '#d9691e', '#2b9457', '#8a55cf', '#c93a57', '#138b98', '#9a7500', '#c45597', '#5c6b7d', '#6f8f1a'];
  const DARK = ['#6ea6ff', '#ff9d57', '#5fcf8d', '#b892ff', '#ff7d95', '#45c4d0', '#e0b93a', '#f28cc6', '#9fb0c4', '#aed04e'];

  // ---- color scheme

  const schemeButton = document.getElementById('scheme');
  const SCHEMES = {auto: 'light dark', light: 'light', dark: 'dark'};
  const system = matchMedia('(prefers-color-scheme: dark)');
  let scheme = 'auto';
  try { // a page from a file may have no storage
    const saved = localStorage.getItem('taskclock-scheme');
    if (saved in SCHEMES) scheme = saved;
  } catch (e) {}

  function isDark() {
    return scheme === 'dark' || scheme === 'auto' && system.matches;
  }

  function applyScheme() {
    root.style.colorScheme = SCHEMES[scheme];
    schemeButton.textContent = {auto: 'Scheme: system', light: 'Scheme: light', dark: 'Scheme: dark'}[scheme];
  }

  schemeButton.hidden = false;
  schemeButton.onclick = () => {
    const names = Object.keys(SCHEMES);
    scheme = names[(names.indexOf(scheme) + 1) % names.length];
    try { localStorage.setItem('taskclock-scheme', scheme); } catch (e) {}
    applyScheme();
    drawAll();
    postSchemeToFrames();
  };
  system.addEventListener('change', () => { drawAll(); postSchemeToFrames(); });

  function color(name) {
    const probe = document.createElement('i');
    probe.style.color = `var(--${name})`;
    document.body.append(probe);
    const resolved = getComputedStyle(probe).color;
    probe.remove();
    return resolved;
  }

  function palette(i) {
    const colors = isDark() ? DARK : LIGHT;
    return colors[i % colors.length];
  }

  /** Returns a darker color of the same hue. */
  function shade(hex) {
    const part = at => Math.round(parseInt(hex.slice(at, at + 2), 16) * (isDark() ? 0.58 : 0.55));
    return `rgb(${part(1)},${part(3)},${part(5)})`;
  }

  // ---- numbers

  function number(value) {
    if (value === null || value === undefined || !isFinite(value)) return '';
    if (Number.isInteger(value) || Math.abs(value) >= 1000) return value.toLocaleString('en', {maximumFractionDigits: 0});
    return String(value).length <= 7 ? String(value) : value.toLocaleString('en', {maximumSignificantDigits: 4});
  }

  /** Shortens a name in the middle, because names of threads of one pool differ at the end. */
  function shortened(name, maxLength) {
    if (name.length <= maxLength) return name;
    const end = Math.floor((maxLength - 1) / 2);
    return name.slice(0, maxLength - 1 - end) + '…' + name.slice(name.length - end);
  }

  function withUnit(value, unit) {
    return number(value) + (unit ? ' ' + unit : '');
  }

  function clock(seconds) {
    const s = Math.round(seconds), pad = n => String(n).padStart(2, '0');
    const rest = `${pad(Math.floor(s / 60) % 60)}:${pad(s % 60)}`;
    return s >= 3600 ? `${Math.floor(s / 3600)}:${rest}` : rest;
  }

  // ---- wall-clock time

  function zoned(zone) {
    return new Intl.DateTimeFormat('en', {
      timeZone: zone, hourCycle: 'h23', year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit', second: '2-digit',
    });
  }

  // The page names its zone. A browser that does not know it shows UTC and says so.
  let zone = root.dataset.zone, zoneFormat;
  try { zoneFormat = zoned(zone); } catch (e) { zoneFormat = zoned(zone = 'UTC'); }

  /** Returns the parts of a local time, given in milliseconds since 1970. */
  function local(millis) {
    const parts = Object.fromEntries(zoneFormat.formatToParts(millis).map(part => [part.type, part.value]));
    return {date: `${parts.year}-${parts.month}-${parts.day}`, time: `${parts.hour}:${parts.minute}:${parts.second}`};
  }

  /** Returns how many milliseconds the zone is ahead of UTC. */
  function zoneOffset(millis) {
    const {date, time} = local(millis);
    return Date.parse(`${date}T${time}Z`) - Math.floor(millis / 1000) * 1000;
  }

  /** Formats the labels of an axis: a date at midnight, seconds only where they are not 0. */
  function timeLabel(millis) {
    const {date, time} = local(millis);
    return time === '00:00:00' ? date : time.endsWith(':00') ? time.slice(0, 5) : time;
  }

  /** Returns the start of a recording, or NaN for a result whose timelines show several separate runs. */
  function startOf(result) {
    return result.kind === 'recording' ? Date.parse(result.started) : NaN;
  }

  function timeWithin(result, millis) {
    const {date, time} = local(millis);
    return local(Date.parse(result.started)).date === local(Date.parse(result.ended)).date ? time : `${date} ${time}`;
  }

  // ---- common options of charts

  const NARROW = 600; // pixels

  function base() {
    return {
      animation: false,
      textStyle: {fontFamily: getComputedStyle(document.body).fontFamily},
      grid: {left: 8, right: 24, top: 44, bottom: 8, outerBoundsMode: 'same', outerBoundsContain: 'all'},
      legend: {
        top: 0, left: 0, right: 0, padding: [8, 4], itemWidth: 22, itemHeight: 12, itemGap: LEGEND_GAP,
        textStyle: {color: color('text'), overflow: 'truncate'}, tooltip: {show: true}, inactiveColor: color('muted'),
      },
      tooltip: {
        confine: true, backgroundColor: color('card'), borderColor: color('line'), textStyle: {color: color('text'), fontSize: 13},
        axisPointer: {lineStyle: {color: color('muted')}},
      },
    };
  }

  const LEGEND_GAP = 10, LEGEND_LINE = 20; // pixels
  const ruler = document.createElement('canvas').getContext('2d');

  /** Makes room for all lines of a legend, below which the chart keeps its height. Returns the height of the other lines. */
  function placeLegend(element, option, names) {
    const maxWidth = element.clientWidth - 60;
    ruler.font = '12px ' + option.textStyle.fontFamily;
    let lines = 1, x = 0;
    for (const name of names) {
      const width = 30 + Math.min(ruler.measureText(name).width, maxWidth);
      if (x > 0 && x + width > element.clientWidth - 16) {
        lines++;
        x = 0;
      }
      x += width + LEGEND_GAP;
    }
    const more = (lines - 1) * LEGEND_LINE;
    option.legend.textStyle.width = maxWidth;
    option.grid.top += more;
    return more;
  }

  /** Sets the height of a chart with a legend. */
  function fitLegend(element, option) {
    element.style.height = '';
    element.style.height = element.clientHeight + placeLegend(element, option, option.series.map(one => one.name)) + 'px';
  }

  function axis(more) {
    return Object.assign({
      nameTextStyle: {color: color('muted')}, nameLocation: 'middle',
      axisLabel: {color: color('muted'), hideOverlap: true},
      axisLine: {show: true, lineStyle: {color: color('line')}}, axisTick: {show: false},
      splitLine: {lineStyle: {color: color('grid')}},
    }, more);
  }

  /** Builds nodes rather than markup, because names may be hostile. */
  function tip(title, lines) {
    const box = document.createElement('div');
    const head = document.createElement('b');
    head.textContent = title;
    box.append(head);
    for (const [dot, name, value] of lines) {
      const line = document.createElement('div');
      line.style.cssText = 'display:flex;gap:10px;justify-content:space-between';
      const left = document.createElement('span'), right = document.createElement('span');
      if (dot) {
        const mark = document.createElement('span');
        mark.style.cssText = 'display:inline-block;width:9px;height:9px;margin-right:6px;border-radius:2px';
        mark.style.background = dot;
        left.append(mark);
      }
      left.append(name.length > 60 ? name.slice(0, 59) + '…' : name);
      right.textContent = value;
      right.style.fontWeight = '600';
      line.append(left, right);
      box.append(line);
    }
    return box;
  }

  function note(element, text) {
    let line = element.nextElementSibling;
    if (!line || !line.classList.contains('note')) {
      line = document.createElement('p');
      line.className = 'note';
      element.after(line);
    }
    line.textContent = text;
  }

  // ---- bars

  const LOG_FROM = 20; // ratio of the longest to the shortest bar; on a linear scale the shortest would be invisible

  /** Series are {name, published, cells: [{value, low, high, text} or null]}; names are from top to bottom. */
  function drawBars(element, unit, names, series) {
    const cells = series.flatMap(one => one.cells).filter(Boolean);
    const values = cells.flatMap(cell => [cell.value, cell.low, cell.high]).filter(v => v !== null && v !== undefined);
    const min = Math.min(...values), max = Math.max(...values);
    const log = min > 0 && max / min > LOG_FROM;
    const width = element.clientWidth;
    const barWidth = series.length > 1 ? 14 : 18, narrow = width < NARROW;
    element.style.height = 90 + (series.length > 1 ? 30 : 0) + names.length * (series.length * (barWidth + 3) + (narrow ? 36 : 12)) + 'px';
    if (log) note(element, 'Logarithmic scale: compare the numbers, not the lengths.');
    // There is room for two or three lines per name.
    const nameWidth = Math.min(300, width * 0.36), maxLength = Math.floor(nameWidth / 7.6) * (narrow ? 3 : 2) - 3;
    const labels = names.map(name => shortened(name, maxLength));
    const option = base();
    option.grid.top = series.length > 1 ? 40 : 10;
    option.grid.right = Math.min(170, width * 0.28);
    option.legend.show = series.length > 1;
    if (series.length > 1) element.style.height = element.clientHeight + placeLegend(element, option, series.map(one => one.name)) + 'px';
    option.xAxis = axis({
      type: log ? 'log' : 'value', name: unit || '', nameGap: 26,
      min: log ? 10 ** Math.floor(Math.log10(min) - 0.01) : min < 0 ? null : 0,
      axisLabel: {color: color('muted'), hideOverlap: true, formatter: number},
    });
    option.yAxis = axis({
      type: 'category', inverse: true, data: names.map((_, i) => i), splitLine: {show: false},
      axisLabel: {
        color: color('text'), interval: 0, width: nameWidth, overflow: 'break', lineHeight: 15,
        formatter: i => labels[i],
      },
    });
    option.tooltip.trigger = 'item';
    option.tooltip.formatter = at => {
      const one = series[at.seriesIndex], cell = one.cells[at.dataIndex];
      const lines = [['', one.name, withUnit(cell.value, unit)]];
      if (cell.low !== null && cell.low !== undefined) lines.push(['', 'from', withUnit(cell.low, unit)]);
      if (cell.high !== null && cell.high !== undefined) lines.push(['', 'to', withUnit(cell.high, unit)]);
      if (cell.ratio) lines.push(['', 'relative to lowest', cell.ratio]);
      return tip(names[at.dataIndex], lines);
    };
    const figure = one => ({
      show: true, position: 'right', color: color('text'), distance: 8,
      formatter: at => one.cells[at.dataIndex] ? one.cells[at.dataIndex].text : '',
    });
    option.series = series.map((one, s) => ({
      name: one.name, type: 'bar', barWidth, barGap: '15%',
      itemStyle: {color: palette(s)},
      label: series.length > 1 ? figure(one) : undefined,
      data: one.cells.map(cell => cell === null ? {value: null} : {
        value: cell.value,
        itemStyle: cell.published
          ? {color: 'transparent', borderColor: color('muted'), borderWidth: 1.5, borderType: 'dashed'} : {},
      }),
      markLine: series.length > 1 ? undefined : {
        silent: true, symbol: 'rect', symbolSize: [9, 2], animation: false, label: {show: false},
        lineStyle: {type: 'solid', width: 2, color: color('text'), opacity: 0.75},
        data: one.cells.flatMap((cell, i) => !cell || cell.low === null || cell.high === null ? []
          : [[{coord: [cell.low, i]}, {coord: [cell.high, i]}]]),
      },
    }));
    if (series.length === 1) option.series.push({
      // Invisible points, whose labels place the figures beyond the spread.
      name: 'figures', type: 'scatter', symbolSize: 0, silent: true, itemStyle: {opacity: 1}, label: figure(series[0]),
      data: series[0].cells.map((cell, i) => [Math.max(cell.value, cell.high || cell.value), i]),
    });
    return option;
  }

  function bars(element, result) {
    const chart = result.bars[element.dataset.index];
    // The table has the ratios.
    const rows = element.parentElement.querySelector('tbody').rows;
    const cells = chart.items.map((bar, i) => {
      const ratio = originalRow(rows, i).cells[4].textContent;
      return {...bar, ratio, text: withUnit(bar.value, chart.unit) + (ratio && !ratio.startsWith('1.00') ? '  ·  ' + ratio : '')};
    });
    const names = chart.items.map(bar => bar.name + (bar.published ? ' (published)' : ''));
    return drawBars(element, chart.unit, names, [{name: chart.title, cells}]);
  }

  function compareBars(element) {
    const title = element.dataset.title;
    const charts = results.map((result, i) => ({i, chart: result.bars.find(bars => bars.title === title)})).filter(entry => entry.chart);
    const names = [...new Set(charts.flatMap(entry => entry.chart.items.filter(bar => !bar.published).map(bar => bar.name)))];
    const unit = charts[0].chart.unit;
    return drawBars(element, unit, names, charts.map(entry => ({
      name: label(entry.i),
      cells: names.map(name => {
        const bar = entry.chart.items.find(item => item.name === name && !item.published);
        return bar ? {...bar, text: withUnit(bar.value, unit)} : null;
      }),
    })));
  }

  function label(i) {
    return document.querySelectorAll('nav a')[i].dataset.name;
  }

  // ---- percentiles

  /** Places 0 at 1, 90 at 10, and 99 at 100, as HdrHistogram does. 100 is infinite on this scale, so it is placed one step after the last. */
  function drawPercentiles(element, unit, series) {
    const below = series.flatMap(one => one.points.map(p => p[0])).filter(p => p < 100);
    const steps = Math.max(1, ...below.map(p => Math.ceil(Math.log10(100 / (100 - p)) - 1e-9))) + 1;
    const place = p => p >= 100 ? 10 ** steps : 100 / (100 - p);
    const percentile = x => {
      const step = Math.round(Math.log10(x));
      return step === steps ? '100 %' : step === 0 ? '0 %' : step === 1 ? '90 %' : step === 2 ? '99 %' : `99.${'9'.repeat(step - 2)} %`;
    };
    const values = series.flatMap(one => one.points.map(p => p[1]));
    const positive = values.filter(v => v > 0);
    const log = positive.length > 0;
    if (positive.length < values.length) note(element, 'The logarithmic scale cannot show values of 0; see the table.');
    const option = base();
    option.xAxis = axis({
      type: 'log', logBase: 10, min: 1, max: 10 ** steps, name: 'percentile', nameGap: 26,
      axisLabel: {color: color('muted'), hideOverlap: true, formatter: percentile},
    });
    option.yAxis = axis({
      type: log ? 'log' : 'value', name: unit || '', nameGap: 10,
      min: log ? 10 ** Math.floor(Math.log10(Math.min(...positive))) : 0,
      axisLabel: {color: color('muted'), formatter: number},
    });
    option.tooltip.trigger = 'item';
    option.tooltip.formatter = at =>
      tip(at.seriesName, [[at.color, `${series[at.seriesIndex].points[at.dataIndex][0]} %`, withUnit(series[at.seriesIndex].points[at.dataIndex][1], unit)]]);
    option.series = series.map((one, i) => ({
      name: one.name + (one.published ? ' (published)' : ''), type: 'line', symbol: one.published ? 'emptyCircle' : one.symbol || 'circle', symbolSize: one.symbol ? 8 : 6,
      lineStyle: {width: 2, type: one.published ? 'dashed' : 'solid'}, itemStyle: {color: one.color || palette(i)}, emphasis: {focus: 'series'},
      data: [...one.points].sort((a, b) => a[0] - b[0]).map(([p, v]) => [place(p), log && v <= 0 ? null : v]),
    }));
    fitLegend(element, option);
    return option;
  }

  function percentiles(element, result) {
    const chart = result.percentiles[element.dataset.index];
    return drawPercentiles(element, chart.unit, chart.series);
  }

  function comparePercentiles(element) {
    const title = element.dataset.title;
    const all = [], hues = [], SYMBOLS = ['circle', 'triangle', 'diamond', 'rect'];
    let unit = '', charts = 0;
    results.forEach((result, i) => {
      const chart = result.percentiles.find(one => one.title === title);
      if (!chart) return;
      unit = chart.unit;
      const chartNumber = charts++;
      // Published series are the same in all results, so each is drawn once.
      for (const one of chart.series) if (!one.published || !all.some(s => s.series === one.name)) {
        // One hue per series, one symbol per result.
        if (!hues.includes(one.name)) hues.push(one.name);
        const hue = palette(hues.indexOf(one.name));
        all.push({
          ...one, series: one.name, name: one.published ? one.name : `${label(i)}: ${one.name}`,
          color: chartNumber % 2 ? shade(hue) : hue, symbol: SYMBOLS[chartNumber % SYMBOLS.length],
        });
      }
    });
    return drawPercentiles(element, unit, all);
  }

  // ---- timelines

  function zoom(labelFormatter, filterMode) {
    return [
      {type: 'inside', filterMode, zoomOnMouseWheel: 'ctrl'},
      {
        type: 'slider', filterMode, height: 22, brushSelect: false, moveHandleSize: 0, bottom: 6, borderColor: color('line'), textStyle: {color: color('muted')},
        labelFormatter, fillerColor: isDark() ? 'rgba(125,177,255,.18)' : 'rgba(31,95,191,.14)',
        dataBackground: {lineStyle: {color: color('line')}, areaStyle: {color: color('grid')}},
      }];
  }

  function timelines(element, result) {
    const chart = result.timelines[element.dataset.index];
    const xs = [...new Set(chart.series.flatMap(one => one.points.map(p => p[0])))].sort((a, b) => a - b);
    const steps = xs.slice(1).map((x, i) => x - xs[i]).sort((a, b) => a - b);
    const medianStep = steps.length ? steps[Math.floor(steps.length / 2)] : 1;
    // The line has a gap where nothing was recorded.
    const gaps = xs.filter((x, i) => i > 0 && x - xs[i - 1] > 3 * medianStep).map(x => x - medianStep);
    const all = [...xs, ...gaps].sort((a, b) => a - b);
    const long = xs.length > 0 && xs[xs.length - 1] > 300;
    const many = xs.length > 60;
    const option = base();
    const started = startOf(result);
    const wall = isFinite(started);
    // ECharts places the labels at round times of day in UTC, so local time is passed to it as if it were UTC.
    const zero = wall ? started + zoneOffset(started) : 0;
    const axisTime = millis => wall ? timeLabel(millis - zero + started) : long ? clock(millis / 1000) : number(millis / 1000);
    option.grid.bottom = many ? 44 : 8;
    option.useUTC = true;
    // With two value axes, ECharts would stack along the wrong one.
    option.xAxis = axis({
      type: 'time', min: 'dataMin', max: 'dataMax', name: wall ? `time (${zone})` : long ? 'time since the start' : 'seconds since the start', nameGap: 26,
      splitLine: {show: false},
      axisLabel: {color: color('muted'), hideOverlap: true, formatter: axisTime},
    });
    option.yAxis = axis({
      type: 'value', name: chart.unit || '', nameGap: 10, axisLabel: {color: color('muted'), formatter: number},
    });
    if (many) option.dataZoom = zoom(axisTime, 'none');
    option.tooltip.trigger = 'axis';
    option.tooltip.formatter = at => {
      const x = (at[0].value[0] - zero) / 1000;
      const when = wall ? `${timeWithin(result, started + x * 1000)} (${zone})` : long ? clock(x) : number(x) + ' s';
      const lines = at.filter(one => one.value[1] !== null).map(one => [one.color, one.seriesName, withUnit(one.value[1], chart.unit)]);
      if (chart.stacked) lines.reverse();
      return tip(when, lines.length > 24 ? lines.filter(line => !line[2].startsWith('0 ')).slice(0, 24) : lines);
    };
    // User and system time of the same name have the same hue.
    const hues = new Map();
    const hue = name => {
      const subject = name.replace(/ (user|system)$/, '');
      if (!hues.has(subject)) hues.set(subject, hues.size);
      return palette(hues.get(subject));
    };
    option.series = chart.series.map(one => {
      const values = new Map(one.points.map(p => [p[0], p[1]]));
      const own = hue(one.name);
      const drawn = / system$/.test(one.name) ? shade(own) : own;
      return {
        name: one.name + (one.published ? ' (published)' : ''), type: 'line', stack: chart.stacked ? 'all' : undefined,
        showSymbol: xs.length < 40, symbol: 'circle', symbolSize: 4, connectNulls: false,
        lineStyle: {width: chart.stacked ? 0.5 : 1.8, type: one.published ? 'dashed' : 'solid'},
        areaStyle: chart.stacked ? {opacity: 0.85} : undefined, itemStyle: {color: drawn}, emphasis: {focus: 'series'},
        data: all.map(x => [zero + x * 1000, values.has(x) ? values.get(x) : null]),
      };
    });
    fitLegend(element, option);
    return option;
  }

  // heatmap.js is inserted here.

  // ---- drawing

  const KINDS = {bars, percentiles, timelines, heatmaps, compareBars, comparePercentiles};

  const ZOOMED = ['timelines', 'heatmaps'];

  function draw(element) {
    let chart = echarts.getInstanceByDom(element);
    if (!chart) {
      chart = echarts.init(element);
      if (ZOOMED.includes(element.dataset.kind)) synchronizeZoom(element, chart);
    }
    const zoomed = (chart.getOption() || {}).dataZoom;
    const option = KINDS[element.dataset.kind](element, results[element.dataset.result]);
    if (zoomed) for (const one of option.dataZoom || []) Object.assign(one, {start: zoomed[0].start, end: zoomed[0].end});
    chart.resize();
    chart.setOption(option, true);
  }

  function drawAll() {
    for (const element of document.querySelectorAll('.chart')) if (element.clientWidth > 0) draw(element);
  }

  /** Applies the zoom of one chart to all others of the result that have the same time axis. */
  function synchronizeZoom(element, chart) {
    chart.on('datazoom', () => {
      const {start, end} = chart.getOption().dataZoom[0];
      if (element.dataset.kind === 'heatmaps') {
        element.dataset.visible = (end - start) / 100;
        chart.setOption({xAxis: {}}); // places the labels again
      }
      for (const other of document.querySelectorAll(`.chart[data-result="${element.dataset.result}"]`)) {
        if (!ZOOMED.includes(other.dataset.kind)) continue;
        const to = other !== element && echarts.getInstanceByDom(other);
        const zoom = to && (to.getOption().dataZoom || [])[0];
        if (zoom && (zoom.start !== start || zoom.end !== end)) to.dispatchAction({type: 'dataZoom', start, end});
      }
    });
  }

  // ---- flame graphs, which are separate pages in iframes

  const frames = [...document.querySelectorAll('iframe')];

  function postSchemeToFrames() {
    for (const frame of frames) frame.contentWindow.postMessage(isDark() ? 'dark' : 'light', '*');
  }

  const reloads = new Map();

  addEventListener('message', event => {
    const frame = frames.find(one => one.contentWindow === event.source);
    if (!frame || !event.data) return;
    if (event.data.reload) {
      clearTimeout(reloads.get(frame));
      reloads.set(frame, setTimeout(() => { frame.srcdoc = frame.srcdoc; }, 150));
    }
    if (!(event.data.height > 0)) return;
    frame.style.height = Math.min(Math.max(event.data.height, 240), 4000) + 'px';
    event.source.postMessage(isDark() ? 'dark' : 'light', '*');
  });

  // ---- sorting tables

  const order = new WeakMap();

  /** Returns the row that was the i-th before sorting. */
  function originalRow(rows, i) {
    for (const row of rows) if (order.get(row) === i) return row;
    return rows[i];
  }

  document.querySelectorAll('table').forEach(table => {
    [...table.tBodies[0].rows].forEach((row, i) => order.set(row, i));
    table.querySelectorAll('thead th').forEach((head, column) => {
      // In narrow windows, each cell of a wide table has its own label.
      for (const row of table.tBodies[0].rows) if (row.cells[column]) row.cells[column].dataset.label = head.textContent;
      const button = document.createElement('button');
      button.type = 'button';
      button.append(...head.childNodes);
      head.append(button);
      button.onclick = () => sort(table, head, column);
    });
  });

  function sort(table, head, column) {
    const numeric = head.classList.contains('number');
    const descending = head.getAttribute('aria-sort') ? head.getAttribute('aria-sort') === 'ascending' : numeric;
    const key = row => {
      const cell = row.cells[column], text = cell ? cell.dataset.value || cell.textContent : '';
      return numeric ? text === '' ? -Infinity : Number(text.replaceAll(',', '')) : text;
    };
    const compare = (a, b) => numeric ? (a < b ? -1 : a > b ? 1 : 0) : a.localeCompare(b);
    const rows = [...table.tBodies[0].rows].sort((a, b) => (descending ? -1 : 1) * compare(key(a), key(b)));
    table.tBodies[0].append(...rows);
    table.querySelectorAll('th').forEach(th => th.removeAttribute('aria-sort'));
    head.setAttribute('aria-sort', descending ? 'descending' : 'ascending');
  }

  // ---- start

  // ?only=N shows a single part, for screenshots.
  const only = document.querySelectorAll('.part')[new URLSearchParams(location.search).get('only') - 1];
  if (only) {
    for (const part of document.querySelectorAll('header, nav, footer, h2, .result > .when, .part')) part.hidden = part !== only;
    if (only.tagName === 'DETAILS') only.open = true;
  }

  applyScheme();
  drawAll();
  // A folded part cannot be opened on paper.
  addEventListener('beforeprint', () => {
    for (const details of document.querySelectorAll('.machine')) details.open = true;
  });
  let width = innerWidth, waiting;
  addEventListener('resize', () => {
    if (innerWidth === width) return;
    width = innerWidth;
    clearTimeout(waiting);
    waiting = setTimeout(drawAll, 150);
  });
})();
