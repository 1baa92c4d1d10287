# SPDX-License-Identifier: MIT
"""The page in a browser: what it shows is what the command says."""

import json
import re
import subprocess
import urllib.parse

import numpy as np
import pytest
from conftest import GARNER, PAGE, Quiet, command

CORE = """
const done = arguments[arguments.length - 1];
(async () => {
  const { createCore, KINDS } = await import("./core.js");
  const core = await createCore(await (await fetch("./garner.wasm")).arrayBuffer());
  return (%s)(core, KINDS);
})().then(done, (error) => done({ failure: error.message }));
"""


def in_core(page, function):
    return page.driver.execute_async_script(CORE % function)


def options(example):
    words = ["--spec", example["spec"], "--format", "json"]
    if example["kind"] != 3:
        words += ["--axis", str(example["axis"])]
    if example["batch_dims"]:
        words += ["--batch-dims", str(example["batch_dims"])]
    return words


OPERATORS = {1: "gather", 2: "gather-elements", 3: "gather-nd"}


def test_every_example_is_what_the_command_says(page):
    page.open()
    found = in_core(page, """(core, KINDS) => core.examples().map((example) => {
        const op = Object.keys(KINDS).find((name) => KINDS[name] === example.kind);
        core.put(0, {literal: example.data});
        core.put(1, {literal: example.indices});
        core.gather({...example, op, strict: false, oob: ""});
        return {...example, json: core.resultJson()};
    })""")
    assert len(found) >= 50
    for example in found:
        expected = command(OPERATORS[example["kind"]], example["data"], example["indices"], *options(example))
        assert json.loads(example["json"]) == expected, example["text"]


def test_every_example_is_one_click_and_shows_its_result(page):
    page.open()
    clicked = 0
    for tab in ["gather", "gather-elements", "gather-nd"]:
        page.click(f"#examples [role=tab][value={tab}]")
        for i in range(len(page.all("#example-list button"))):
            page.script("delete document.documentElement.dataset.ready;"
                        "document.querySelectorAll('#example-list button')[arguments[0]].click()", i)
            page.wait("document.documentElement.dataset.ready")
            example = page.script("return document.querySelectorAll('#example-list button')[arguments[0]].example", i)
            assert page.error() == ""
            words = [example["op"], example["data"], example["indices"], "--spec", example["spec"]]
            words += ["--axis", example["axis"]] if tab != "gather-nd" else []
            words += ["--batch-dims", example["batch_dims"]] if example["batch_dims"] != "0" else []
            assert page.result() == subprocess.run([GARNER, *words], capture_output=True, text=True, check=True).stdout.strip()
            clicked += 1
    assert clicked >= 50


@pytest.mark.parametrize("tab, label", [("gather-elements", "axis 1"), ("gather-nd", "batch_dims 1")])
def test_first_visit_two_clicks(page, tab, label):
    page.open()
    page.click(f"#examples [role=tab][value={tab}]")
    page.script("delete document.documentElement.dataset.ready;"
                "[...document.querySelectorAll('#example-list button')].find((one) => one.textContent.includes(arguments[0])).click()", label)
    page.wait("document.documentElement.dataset.ready")
    assert label in page.script("return document.getElementById('title').textContent")
    page.shot(f"example-{tab}")


def test_typing_changes_the_picture(page):
    page.open()
    page.type("data", "[10,20,30]")
    page.type("indices", "[2,0,-1]")
    assert page.result() == "[30,10,30]"
    assert page.script("return [...document.querySelectorAll('.panel-out td')].map((cell) => cell.textContent)") == ["30", "10", "30"]
    assert page.script("return document.getElementById('formula').textContent") == "out[i] = data[indices[i]]"
    page.type("oob", "zero")
    page.type("indices", "[2,7]")
    assert page.result() == "[30,0]"
    assert page.script("return document.querySelectorAll('.panel-out td')[1].classList.contains('zero')")


def test_versions_of_each_operator(page):
    page.open()
    names = "return [...document.querySelector('[name=spec]').options].map((one) => one.value)"
    assert page.script(names) == ["", "onnx-1", "onnx-11", "onnx-13", "openvino-1", "openvino-7", "openvino-8"]
    page.click("[name=op][value=gather-elements]")
    assert page.script(names) == ["", "onnx-11", "onnx-13", "openvino-6"]
    page.click("[name=op][value=gather-nd]")
    assert page.script(names) == ["", "onnx-11", "onnx-12", "onnx-13", "openvino-5", "openvino-8"]


def test_a_bad_index_is_a_sentence_and_a_marked_cell(page):
    page.open()
    page.type("data", "[[1,2,3],[4,5,6]]")
    page.click("[name=op][value=gather-elements]")
    page.type("axis", "1")
    page.type("indices", "[[0,2],[1,5]]")
    assert page.error() == command("gather-elements", "[[1,2,3],[4,5,6]]", "[[0,2],[1,5]]", "--axis", "1")
    bad = page.script("return [...document.querySelectorAll('td.bad')].map((cell) => [cell.textContent, cell.ariaInvalid ?? cell.getAttribute('aria-invalid')])")
    assert bad == [["5", "true"]]
    page.shot("bad-index")
    page.type("indices", "[[0,2],[1,")
    assert "malformed" in page.error()
    assert page.find("#indices").get_attribute("aria-invalid") == "true"
    page.type("indices", "[[0,2],[1,1]]")
    assert page.error() == ""
    page.type("axis", "one")
    assert page.error() == "axis: 'one' is not an integer"


LIT = "return ['indices', 'data', 'out'].map((panel) => [...document.querySelectorAll(`.panel-${panel} td.lit`)].map((cell) => cell.textContent))"


def hover(page, panel, i):
    page.script("document.querySelectorAll(`.panel-${arguments[0]} td`)[arguments[1]].dispatchEvent(new PointerEvent('pointerover', {bubbles: true}))", panel, i)
    return page.script(LIT)


def test_hovering_lights_what_belongs_together(page):
    page.open()
    page.type("data", "[10,20,30]")
    page.type("indices", "[2,0,-1]")
    assert hover(page, "out", 0) == [["2"], ["30"], ["30"]]
    page.wait("document.getElementById('line').textContent.startsWith('out[0] = data[2] = 30')")
    assert hover(page, "data", 2) == [["2", "-1"], ["30"], ["30", "30"]]
    page.wait("document.getElementById('line').textContent.endsWith('and 1 more of out')")
    assert hover(page, "indices", 1) == [["0"], ["10"], ["10"]]
    assert hover(page, "data", 1) == [[], ["20"], []]
    page.wait("document.getElementById('line').textContent === 'no element of out comes from here'")


def test_the_keyboard_does_the_same(page):
    page.open()
    page.type("data", "[10,20,30]")
    page.type("indices", "[2,0,-1]")
    page.script("document.querySelector('.panel-out td').focus()")
    page.script("document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight', bubbles: true}))")
    page.wait("document.activeElement.textContent === '10'")
    assert page.script(LIT) == [["0"], ["10"], ["10"]]


def test_the_address_holds_everything(page):
    page.open()
    page.click("[name=op][value=gather-nd]")
    for name, text in [("data", '[["a b","&="],["#","%"]]'), ("indices", "[[1,0],[5,5]]"), ("oob", "clamp"), ("batch_dims", "0")]:
        page.type(name, text)
    page.wait("location.hash.includes('clamp')")
    result, link = page.result(), page.driver.current_url
    page.open("#" + link.split("#", 1)[1])
    assert page.result() == result == '["#","%"]'
    assert page.find("[name=oob]").get_attribute("value") == "clamp"
    page.open("#" + urllib.parse.quote("op=nothing&data=[1]&indices=[0]&%%%", safe="=&[]%"))
    assert page.result() == "[1]"


# ---- Files ----


def test_small_files_become_literals(page, tmp_path):
    np.save(tmp_path / "x.npy", np.array([[1.5, 2.5], [3.5, 4.5]], dtype=np.float16))
    np.save(tmp_path / "i.npy", np.array([1, 0, 1], dtype=np.int32))
    page.open()
    page.drop([tmp_path / "x.npy"], "#data")
    page.wait("document.querySelector('#data').value === '[[1.5,2.5],[3.5,4.5]]:f16'")
    page.drop([tmp_path / "i.npy"], "#indices")
    page.wait("document.querySelector('#indices').value === '[1,0,1]:i32'")
    page.wait("document.querySelector('#summary li').textContent.includes('[[3.5,4.5],[1.5,2.5],[3.5,4.5]]')")


def test_members_of_archives(page, tmp_path):
    from safetensors.numpy import save_file

    np.savez_compressed(tmp_path / "many.npz", table=np.arange(12.0, dtype=np.float32).reshape(4, 3), ids=np.array([3, 1]))
    save_file({"w": np.array([7, 8, 9], dtype=np.uint8)}, tmp_path / "w.safetensors")
    page.open()
    page.drop([tmp_path / "many.npz"])
    page.wait("document.querySelectorAll('.file li').length === 2")
    page.click(".file [aria-label='table as data']")
    page.click(".file [aria-label='ids as indices']")
    page.wait("document.querySelector('#summary li').textContent === 'out = [[9.0,10.0,11.0],[3.0,4.0,5.0]]'")
    page.shot("files")
    page.drop([tmp_path / "w.safetensors"], "#data")
    page.wait("document.querySelector('#data').value === '[7,8,9]:u8'")


def test_large_files_show_a_window(page, tmp_path):
    np.save(tmp_path / "large.npy", np.arange(1_000_000, dtype=np.float32).reshape(1000, 1000))
    page.open()
    page.drop([tmp_path / "large.npy"], "#data")
    page.wait("document.querySelector('#data').value === 'file:large.npy'")
    page.type("indices", "[999,500]")
    assert page.script("return document.querySelectorAll('.panel-data td').length") == 144
    page.script("document.querySelector('.panel-out td').click()")
    page.wait("[...document.querySelectorAll('.panel-data td')].some((cell) => cell.textContent === '999000.0')")
    page.shot("large")
    page.open("#op=gather&data=file:large.npy&indices=[1]")
    assert page.error() == "large.npy is a file that this address does not hold: drop it on the page"


def model_with(tmp_path):
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    table = numpy_helper.from_array(np.arange(20, dtype=np.float32).reshape(5, 4), "table")
    nodes = [helper.make_node("Gather", ["table", "ids"], ["rows"], name="lookup"),
             helper.make_node("GatherND", ["rows", "where"], ["out"], name="pick", batch_dims=1)]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("ids", TensorProto.INT64, ["n", 2]),
                                           helper.make_tensor_value_info("where", TensorProto.INT64, ["n", 1])],
                              [helper.make_tensor_value_info("out", TensorProto.FLOAT, None)], [table])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), tmp_path / "model.onnx")
    return tmp_path / "model.onnx"


def test_a_model_shows_its_gathers_and_each_opens(page, tmp_path):
    page.open()
    page.drop([model_with(tmp_path)])
    page.wait("document.querySelectorAll('.file li').length === 2")
    for i, title in enumerate(["Gather, axis 0", "GatherND, batch_dims 1"]):
        page.script("document.querySelectorAll('.file li button')[arguments[0]].click()", i)
        page.wait(f"document.getElementById('title').textContent === '{title}'")
        assert page.error() == ""
    page.script("document.querySelector('.file details').open = true")
    page.wait("document.querySelector('.file img')?.naturalWidth > 0")
    page.shot("model")


def test_an_ir_is_read_by_the_browser(page, tmp_path):
    (tmp_path / "sentence.xml").write_bytes((PAGE.parent.parent / "examples" / "sentence.xml").read_bytes())
    (tmp_path / "sentence.bin").write_bytes(bytes(4096))
    page.open()
    page.drop([tmp_path / "sentence.xml"])
    page.wait("!document.getElementById('error').hidden")
    assert page.error().startswith('sentence.xml: element 3: layer "table" (Const)')
    page.drop([tmp_path / "sentence.xml", tmp_path / "sentence.bin"])
    page.wait("document.querySelector('.file li button')")
    page.script("document.querySelector('.file li button').click()")
    page.wait("document.getElementById('title').textContent.startsWith('Gather') && document.getElementById('error').hidden")


HOSTILE = {
    "empty.npy": b"", "short.npy": b"\x93NUMPY\x01\x00\xff\xff{'descr'", "noise.npz": b"PK\x03\x04" + bytes(range(256)),
    "deep.safetensors": (10**9).to_bytes(8, "little") + b"{" * 1000, "noise.onnx": bytes(range(256)) * 40, "broken.xml": b"<net><layers>",
    "entities.xml": b'<!DOCTYPE net [<!ENTITY a "b">]><net name="&a;"/>', "other.txt": b"hello",
    "huge.npy": b"\x93NUMPY\x01\x00\x76\x00" + b"{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000,), }".ljust(117) + b"\n",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_end_in_a_sentence(page, tmp_path, name):
    (tmp_path / name).write_bytes(HOSTILE[name])
    page.allowed = "Applying inline style" if name == "broken.xml" else None  # in Chromium's own page about the XML
    page.open()
    page.drop([tmp_path / name])
    page.wait("!document.getElementById('error').hidden")
    assert name in page.error()
    page.type("indices", "[0]")
    assert page.error() == ""


def test_deflated_bombs_are_refused(page, tmp_path):
    import zipfile

    with zipfile.ZipFile(tmp_path / "bomb.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.npy", bytes(300 * 1024 * 1024))
    page.open()
    page.drop([tmp_path / "bomb.npz"])
    page.wait("!document.getElementById('error').hidden", 60)
    assert "256 MiB" in page.error()


# ---- What it is taken along as ----


@pytest.mark.parametrize("state", [
    "#op=gather&data=[[1.5,2],[nan,-inf]]&indices=[1,0]&axis=1",
    "#op=gather-nd&data=iota(2,3,4):i32&indices=[[1],[0]]&batch_dims=1&spec=openvino-8",
    "#op=gather-elements&data=[[true,false]]&indices=[[1,-1]]&axis=1&oob=zero",
    "#op=gather&data=[1,2,3]:u4&indices=[2,2,0]",
    '#op=gather&data=["a","it\'s"]&indices=[1]',
])
def test_command_and_c_give_the_same(page, state, tmp_path):
    page.open(state)
    result = page.result()
    words = page.code("command").replace("garner ", f"{GARNER} ", 1)
    assert subprocess.run(["bash", "-c", words], capture_output=True, text=True, check=True).stdout.strip() == result
    (tmp_path / "main.c").write_text(page.code("c"))
    root = PAGE.parent.parent
    subprocess.run(["cc", "-std=c11", "-Wall", "-Werror", f"-I{root / 'include'}", "main.c", GARNER.parent / "libgarner.a", "-lpthread", "-o", "main"],
                   cwd=tmp_path, check=True)
    printed = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=True).stdout.split()
    if "u4" not in state and "true" not in state:
        number = re.compile(r"-?(\d|nan|inf)")
        plain = re.findall(r'[^\[\],"]+', result)
        assert [str(float(one)) if number.match(one) else one for one in printed] == \
               [str(float(one)) if number.match(one) else one for one in plain]
    compile(page.code("python"), "copied", "exec")


# ---- Looks ----


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast_and_roles(page, scheme):
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
    page.open("#op=gather&data=iota(5,4):f32&indices=[[3,0],[-1,3]]")
    poor = page.script("""
        const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
        const rgb = (colour) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); return [...canvas.getImageData(0, 0, 1, 1).data]; };
        const light = ([r, g, b]) => [r, g, b].map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4).reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
        const behind = (node) => { for (; node; node = node.parentElement) { const found = rgb(getComputedStyle(node).backgroundColor); if (found[3] > 250) return found; } return [255, 255, 255]; };
        const poor = [];
        for (const node of document.querySelectorAll("body *")) {
            if (![...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim()) || !node.checkVisibility() || node.matches("noscript, .skip, option")) continue;
            const pair = [light(rgb(getComputedStyle(node).color)), light(behind(node))].sort((a, b) => b - a), ratio = (pair[0] + 0.05) / (pair[1] + 0.05);
            if (ratio < 4.5) poor.push([node.tagName, node.className, node.textContent.slice(0, 20), ratio]);
        }
        return poor;""")
    assert poor == []
    nameless = page.script("""
        return [...document.querySelectorAll("button, input, textarea, select, a, table, [role=tablist], img, section")].filter((node) => node.checkVisibility())
            .filter((node) => !(node.labels?.length || node.textContent.trim() || node.getAttribute("aria-label") || node.getAttribute("aria-labelledby") || node.alt))
            .map((node) => node.outerHTML.slice(0, 80))""")
    assert nameless == []
    assert page.script("return document.querySelectorAll('[role=grid] [role=gridcell]').length") > 20
    assert page.script("return [document.querySelectorAll('h1').length, document.documentElement.lang, document.querySelectorAll('main').length]") == [1, "en", 1]
    background = page.script("return getComputedStyle(document.body).backgroundColor")
    assert background == {"light": "rgb(250, 251, 252)", "dark": "rgb(22, 24, 29)"}[scheme]
    page.shot(scheme)
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_narrow_screens_do_not_scroll_sideways(page):
    page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": 360, "height": 800, "deviceScaleFactor": 1, "mobile": True})
    page.open("#op=gather&data=iota(1000,1000):f32&indices=[5,3]")
    wide = page.script("return [document.documentElement.scrollWidth, innerWidth]")
    page.shot("narrow")
    page.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert wide[0] <= wide[1] == 360


def test_nothing_leaves_and_nothing_is_inline(page):
    page.open()
    Quiet.seen.clear()
    page.type("data", "[1,2,3]")
    page.type("indices", "[0]")
    assert Quiet.seen == []
    html = (PAGE / "play" / "index.html").read_text()
    assert "default-src 'none'" in html and "unsafe-inline" not in html
    assert not re.search(r"<script(?![^>]*src=)|\son\w+=|style=|https?://", html)
    for path in (PAGE / "play").glob("*.js"):
        assert "http://www.w3.org/2000/svg" in path.read_text() or not re.search(r"https?://", path.read_text())
    assert (PAGE / "play" / "garner.wasm").stat().st_size <= 600_000


# ---- How fast: shown, not asserted ----


def keystrokes(page, text):
    """Milliseconds of the whole and of the core, in the middle of some keystrokes at the end of a literal."""
    times = []
    for i in range(9):
        page.type("indices", text[:-1] + f",{i}]")
        times.append([float(one) for one in page.script("const {took, core} = document.documentElement.dataset; return [took, core]")])
    return "{:.1f} ms, of which the core takes {:.1f}".format(*np.median(times, axis=0))


def test_how_fast(page, capsys):
    page.open()
    first = page.script("return document.documentElement.dataset.took")
    page.type("data", "iota(100,100):f32")
    rows = keystrokes(page, "[" + ",".join(str(i * 37 % 100) for i in range(100)) + "]")
    page.type("data", "iota(10000):f32")
    elements = keystrokes(page, "[" + ",".join(str(i * 7919 % 10000) for i in range(10000)) + "]")
    with capsys.disabled():
        print(f"\nthe first picture took {first} ms after the scripts began; a keystroke with 10^4 elements in out {rows}; "
              f"in a literal of 10^4 indices {elements}")
