# SPDX-License-Identifier: MIT
"""Draws the page as an SVG, box by box and word by word as the browser placed them: draw_page.py ADDRESS FILE."""

import shutil
import sys
import time

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

DRAW = r"""
const WIDTH = 1300, parts = [], escape = (text) => text.replace(/[&<>"]/g, (c) => ({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})[c]);
const seen = (colour) => colour && !/rgba\(.*, 0\)|transparent/.test(colour), n = (x) => Math.round(x * 10) / 10;
const height = Math.ceil(document.getElementById("picture-section").getBoundingClientRect().bottom + 150);
const canvas = document.createElement("canvas").getContext("2d");
const hex = (colour) => { canvas.fillStyle = colour; return canvas.fillStyle; };
const inside = (box) => box.width && box.height && box.top < height && box.left < WIDTH;
for (const path of document.querySelectorAll("#arrows path")) {
    const at = document.getElementById("picture").getBoundingClientRect(), style = getComputedStyle(path);
    parts.push(`<path transform="translate(${n(at.left)} ${n(at.top)})" d="${path.getAttribute("d").replace(/\d+\.\d+/g, (x) => n(Number(x)))}" fill="none" stroke="${hex(style.stroke)}" stroke-width="${style.strokeWidth}" opacity="${style.opacity}"/>`);
}
for (const node of document.querySelectorAll("header *, main *, textarea")) {
    const box = node.getBoundingClientRect(), style = getComputedStyle(node);
    if (!inside(box) || !node.checkVisibility() || node.closest("svg") || style.opacity === "0" || node.matches("option")) continue;
    const border = parseFloat(style.borderTopWidth) > 0 && parseFloat(style.borderLeftWidth) > 0 && node.tagName !== "INPUT" || node.matches("input:not([type])");
    if (seen(style.backgroundColor) || border)
        parts.push(`<rect x="${n(box.left)}" y="${n(box.top)}" width="${n(box.width)}" height="${n(Math.min(box.height, height - box.top))}" rx="${parseFloat(style.borderTopLeftRadius) || 0}" fill="${seen(style.backgroundColor) ? hex(style.backgroundColor) : "none"}"${border ? ` stroke="${hex(style.borderTopColor)}"` : ""}/>`);
    const say = (text, left, bottom, size, weight, colour) => parts.push(`<text x="${n(left)}" y="${n(bottom)}" font-size="${size}" font-weight="${weight}" fill="${hex(colour)}">${escape(text)}</text>`);
    const size = parseFloat(style.fontSize);
    if (node.matches("textarea, input:not([type]), select")) {
        const text = node.matches("select") ? node.selectedOptions[0].text : node.value;
        say(text, box.left + 9, node.matches("textarea") ? box.top + 20 : box.top + box.height / 2 + size * 0.36, size, style.fontWeight, style.color);
        continue;
    }
    for (const child of node.childNodes) {
        if (child.nodeType !== 3 || !child.data.trim()) continue;
        const range = document.createRange();
        let from = 0;
        const lines = [];
        for (let i = 0; i < child.data.length; i++) { // a line for each different top
            range.setStart(child, i); range.setEnd(child, i + 1);
            const at = range.getClientRects()[0];
            if (!at || !at.width) continue;
            const last = lines[lines.length - 1];
            if (last && Math.abs(last.top - at.top) < 3) { last.text += child.data[i]; } else lines.push({text: child.data[i], left: at.left, top: at.top, bottom: at.bottom});
        }
        for (const line of lines) if (line.top < height - 10 && line.text.trim()) say(line.text.trimEnd(), line.left, line.bottom - (line.bottom - line.top) * 0.24, size, style.fontWeight, style.color);
    }
}
return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" role="img">\n<style>text{font-family:ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace;white-space:pre}</style>\n<rect width="100%" height="100%" fill="#fafbfc"/>\n${parts.join("\n")}\n</svg>\n`;
"""


def main(address, path):
    options = webdriver.ChromeOptions()
    for argument in ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars", "--window-size=1300,1100"]:
        options.add_argument(argument)
    options.binary_location = shutil.which("chromium")
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    driver.get(address)
    while not driver.execute_script("return document.documentElement.dataset.ready && document.querySelector('#example-list button')"):
        time.sleep(0.1)
    driver.execute_script("document.querySelector('.panel-out td:nth-of-type(2)').dispatchEvent(new PointerEvent('pointerover', {bubbles: true}))")
    time.sleep(1)
    with open(path, "w", encoding="utf-8") as file:
        file.write(driver.execute_script(DRAW))
    driver.quit()


if __name__ == "__main__":
    main(*sys.argv[1:])
