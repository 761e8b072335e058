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

  function withUnit(value, unit) {
    return number(value) + (unit ? ' ' + unit : '');
  }

  function clock(seconds) {
    const s = Math.round(seconds), pad = n => String(n).padStart(2, '0');
    const rest = `${pad(Math.floor(s / 60) % 60)}:${pad(s % 60)}`;
    return s >= 3600 ? `${Math.floor(s / 3600)}:${rest}` : rest;
  }

  // ---- common options of charts

  function base() {
    return {
      animation: false,
      textStyle: {fontFamily: getComputedStyle(document.body).fontFamily},
      grid: {left: 8, right: 24, top: 44, bottom: 8, outerBoundsMode: 'same', outerBoundsContain: 'all'},
      legend: {
        type: 'scroll', top: 0, left: 0, right: 0, padding: [8, 4], itemWidth: 22, itemHeight: 10, itemGap: 14,
        textStyle: {color: color('text'), width: 170, overflow: 'truncate'}, tooltip: {show: true}, inactiveColor: color('muted'),
        pageIconColor: color('accent'), pageIconInactiveColor: color('line'), pageTextStyle: {color: color('muted')},
      },
      tooltip: {
        confine: true, backgroundColor: color('card'), borderColor: color('line'), textStyle: {color: color('text'), fontSize: 13},
        axisPointer: {lineStyle: {color: color('muted')}},
      },
    };
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
    const barWidth = series.length > 1 ? 14 : 18;
    element.style.height = 90 + (series.length > 1 ? 30 : 0) + names.length * (series.length * (barWidth + 3) + (width < 600 ? 26 : 12)) + 'px';
    if (log) note(element, 'Logarithmic scale: compare the numbers, not the lengths.');
    // There is room for two lines per name.
    const nameWidth = Math.min(300, width * 0.36), maxLength = Math.floor(nameWidth / 7.2) * 2 - 1;
    const labels = names.map(name => name.length > maxLength ? name.slice(0, maxLength - 1) + '…' : name);
    const option = base();
    option.grid.top = series.length > 1 ? 40 : 10;
    option.grid.right = Math.min(170, width * 0.28);
    option.legend.show = series.length > 1;
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
    return document.querySelectorAll('nav .label')[i].textContent;
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
    const axisTime = millis => long ? clock(millis / 1000) : number(millis / 1000);
    const option = base();
    const started = Date.parse(result.started);
    option.grid.bottom = many ? 44 : 8;
    option.useUTC = true;
    // With two value axes, ECharts would stack along the wrong one.
    option.xAxis = axis({
      type: 'time', min: 'dataMin', max: 'dataMax', name: long ? 'time since the start' : 'seconds since the start', nameGap: 26,
      splitLine: {show: false},
      axisLabel: {color: color('muted'), hideOverlap: true, formatter: axisTime},
    });
    option.yAxis = axis({
      type: 'value', name: chart.unit || '', nameGap: 10, axisLabel: {color: color('muted'), formatter: number},
    });
    if (many) option.dataZoom = [
      {type: 'inside', filterMode: 'none', zoomOnMouseWheel: 'ctrl'},
      {
        type: 'slider', filterMode: 'none', height: 22, brushSelect: false, moveHandleSize: 0, bottom: 6, borderColor: color('line'), textStyle: {color: color('muted')},
        labelFormatter: axisTime, fillerColor: isDark() ? 'rgba(125,177,255,.18)' : 'rgba(31,95,191,.14)',
        dataBackground: {lineStyle: {color: color('line')}, areaStyle: {color: color('grid')}},
      }];
    option.tooltip.trigger = 'axis';
    option.tooltip.formatter = at => {
      const x = at[0].value[0] / 1000;
      const when = long ? clock(x) : number(x) + ' s';
      const time = isFinite(started) ? ` (${new Date(started + x * 1000).toISOString().slice(11, 19)} UTC)` : '';
      const lines = at.filter(one => one.value[1] !== null).map(one => [one.color, one.seriesName, withUnit(one.value[1], chart.unit)]);
      if (chart.stacked) lines.reverse();
      return tip(when + time, lines.length > 24 ? lines.filter(line => !line[2].startsWith('0 ')).slice(0, 24) : lines);
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
        data: all.map(x => [x * 1000, values.has(x) ? values.get(x) : null]),
      };
    });
    return option;
  }

  // ---- drawing

  const KINDS = {bars, percentiles, timelines, compareBars, comparePercentiles};

  function draw(element) {
    let chart = echarts.getInstanceByDom(element);
    if (!chart) {
      chart = echarts.init(element);
      if (element.dataset.kind === 'timelines') synchronizeZoom(element, chart);
    }
    const option = KINDS[element.dataset.kind](element, results[element.dataset.result]);
    chart.resize();
    chart.setOption(option, true);
  }

  function drawAll() {
    for (const element of document.querySelectorAll('.chart')) if (element.clientWidth > 0) draw(element);
  }

  /** Applies the zoom of one timeline to all timelines of the result. */
  function synchronizeZoom(element, chart) {
    chart.on('datazoom', () => {
      const {start, end} = chart.getOption().dataZoom[0];
      for (const other of document.querySelectorAll(`[data-kind=timelines][data-result="${element.dataset.result}"]`)) {
        const to = other !== element && echarts.getInstanceByDom(other);
        const zoom = to && to.getOption().dataZoom[0];
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
    for (const part of document.querySelectorAll('header, nav, footer, h2, .when, .incomplete, .part')) part.hidden = part !== only;
  }

  applyScheme();
  drawAll();
  let width = innerWidth, waiting;
  addEventListener('resize', () => {
    if (innerWidth === width) return;
    width = innerWidth;
    clearTimeout(waiting);
    waiting = setTimeout(drawAll, 150);
  });
})();
