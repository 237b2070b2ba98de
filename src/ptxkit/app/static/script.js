// Links lines of panes to each other, shows help for instructions, walks lines by arrow keys.
(() => {
  const indexes = new WeakMap();
  let pinned = null;

  function index(pane) {
    // line of PTX -> the rows of this pane that stand for it
    let found = indexes.get(pane);
    if (!found) {
      found = new Map();
      for (const row of pane.querySelectorAll('[data-ptx]'))
        for (const line of row.dataset.ptx.split(' ')) {
          if (!found.has(line)) found.set(line, []);
          found.get(line).push(row);
        }
      indexes.set(pane, found);
    }
    return found;
  }

  function clear(kind) {
    document.querySelectorAll('.' + kind).forEach(row => row.classList.remove(kind));
  }

  function mark(row, kind, scroll) {
    clear(kind);
    const pane = row.closest('.pk-pane');
    row.classList.add(kind);
    if (!pane || !pane.dataset.link || !row.dataset.ptx) return;
    const lines = row.dataset.ptx.split(' ');
    for (const other of document.querySelectorAll(`.pk-pane[data-link="${pane.dataset.link}"]`)) {
      let first = null;
      for (const line of lines)
        for (const partner of index(other).get(line) || []) {
          partner.classList.add(kind);
          first = first || partner;
        }
      if (scroll && first && other !== pane) reveal(other, first);
    }
  }

  function reveal(pane, row) {
    const box = pane.getBoundingClientRect(), place = row.getBoundingClientRect();
    if (place.top < box.top + 20 || place.bottom > box.bottom - 20)
      pane.scrollTop += place.top - box.top - box.height / 3;
  }

  function popover() {
    let box = document.getElementById('pk-help');
    if (!box) {
      box = document.createElement('div');
      box.id = 'pk-help';
      box.setAttribute('role', 'tooltip');
      box.hidden = true;
      (document.querySelector('.gradio-container') || document.body).append(box);
    }
    return box;
  }

  function help(word) {
    const box = popover();
    const texts = word && word.closest('.pk-helped');
    const text = texts && texts.querySelector(`.pk-texts > [data-text="${word.dataset.help}"]`);
    if (!text) { box.hidden = true; return; }
    box.innerHTML = text.innerHTML;  // made by the server, everything in it escaped
    box.hidden = false;
    const place = word.getBoundingClientRect();
    const left = Math.max(8, Math.min(place.left, innerWidth - box.offsetWidth - 12));
    const below = place.bottom + 6, above = place.top - box.offsetHeight - 6;
    box.style.left = left + 'px';
    box.style.top = (below + box.offsetHeight > innerHeight && above > 0 ? above : below) + 'px';
  }

  document.addEventListener('mouseover', event => {
    if (!(event.target instanceof Element)) return;
    const row = event.target.closest('.pk-pane [data-ptx]');
    if (row) mark(row, 'pk-near', false); else clear('pk-near');
    help(event.target.closest('[data-help]'));
  });
  document.addEventListener('click', event => {
    if (!(event.target instanceof Element)) return;
    const row = event.target.closest('.pk-pane [data-ptx]');
    if (!row) return;
    if (row === pinned) { clear('pk-on'); pinned = null; return; }
    pinned = row;
    mark(row, 'pk-on', true);
    current(row.closest('.pk-pane'), row, false);
  });

  // What is shown belongs to an earlier input as soon as one types; a new result says otherwise.
  document.addEventListener('input', event => {
    if (event.target instanceof Element && event.target.matches('#pk-text textarea'))
      document.querySelectorAll('.pk-stale').forEach(mark => { mark.hidden = false; });
  });

  function current(pane, row, scroll) {
    pane.querySelectorAll('.pk-current').forEach(one => one.classList.remove('pk-current'));
    row.classList.add('pk-current');
    if (scroll) {
      reveal(pane, row);
      mark(row, 'pk-on', true);
      help(row.querySelector('[data-help]'));
    }
  }

  document.addEventListener('keydown', event => {
    if (event.key === 'Escape') { popover().hidden = true; clear('pk-on'); clear('pk-near'); return; }
    const pane = event.target instanceof Element && event.target.closest('.pk-pane');
    if (!pane || event.target !== pane) return;
    const rows = [...pane.querySelectorAll('.pk-row')];
    const at = rows.findIndex(row => row.classList.contains('pk-current'));
    const to = {ArrowDown: at + 1, ArrowUp: Math.max(at - 1, 0), Home: 0, End: rows.length - 1,
                PageDown: at + 20, PageUp: Math.max(at - 20, 0)}[event.key];
    if (to === undefined || !rows.length) return;
    event.preventDefault();
    current(pane, rows[Math.min(to, rows.length - 1)], true);
  });
  // A pane says which of its lines is worth seeing first.
  new MutationObserver(() => {
    for (const pane of document.querySelectorAll('.pk-pane[data-first]')) {
      const row = pane.querySelectorAll('.pk-row')[pane.dataset.first - 2];
      if (!row || !pane.clientHeight) continue;
      pane.scrollTop += row.getBoundingClientRect().top - pane.getBoundingClientRect().top;
      pane.removeAttribute('data-first');
    }
  }).observe(document.documentElement, {childList: true, subtree: true, attributes: true,
                                        attributeFilter: ['class', 'style', 'hidden']});
  document.addEventListener('focusout', () => { popover().hidden = true; });
})();
