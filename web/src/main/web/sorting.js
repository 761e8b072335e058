// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
// @ts-check

/** @param {HTMLTableElement} table @param {HTMLTableCellElement} head @param {number} column */
function sort(table, head, column) {
  const numeric = head.classList.contains('number'), order = head.getAttribute('aria-sort'), body = table.tBodies[0];
  const descending = order ? order === 'ascending' : numeric;
  /** @param {HTMLTableRowElement} row */
  const text = ({cells}) => cells[column]?.dataset.value || cells[column]?.textContent || '';
  /** @param {HTMLTableRowElement} row */
  const value = row => text(row) === '' ? -Infinity : Number(text(row).replaceAll(',', ''));
  const rows = [...body.rows].sort((a, b) => {
    const x = value(a), y = value(b);
    return (descending ? -1 : 1) * (numeric ? x < y ? -1 : Number(x > y) : text(a).localeCompare(text(b)));
  });
  body.append(...rows);
  for (const other of table.querySelectorAll('th')) other.removeAttribute('aria-sort');
  head.setAttribute('aria-sort', descending ? 'descending' : 'ascending');
}

/** Makes the heads of all tables buttons that sort the rows. */
export function enableSorting() {
  for (const table of /** @type {NodeListOf<HTMLTableElement>} */ (document.querySelectorAll('.scroll > table'))) {
    const heads = /** @type {NodeListOf<HTMLTableCellElement>} */ (table.querySelectorAll('thead th'));
    heads.forEach((head, column) => {
      // In narrow windows, each cell of a wide table has its own label.
      for (const {cells} of table.tBodies[0].rows) cells[column]?.setAttribute('data-label', head.textContent || '');
      const button = document.createElement('button');
      button.type = 'button';
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener('click', () => sort(table, head, column));
    });
  }
}
