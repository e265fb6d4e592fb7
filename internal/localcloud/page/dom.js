// Small help to build elements.

export function el(name, properties = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === false) continue;
    if (key === "class") element.className = value;
    else if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "data") Object.assign(element.dataset, value);
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== undefined && child !== null));
  return element;
}

export function byId(id) {
  return document.getElementById(id);
}

// place sets where an absolutely placed element is, in pixels.
export function place(element, box) {
  for (const [key, value] of Object.entries(box)) element.style[key] = `${value}px`;
  return element;
}

export function say(text) {
  byId("spoken").textContent = text;
}
