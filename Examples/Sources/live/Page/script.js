"use strict";

// The page never changes its list by itself. It asks the server for a change, and shows what the server's observer is
// told, as it is told: places in the list before, and places in the list after. Text goes into the page as text only.

const list = document.getElementById("tasks");
const template = document.getElementById("task");
const element = id => document.getElementById(id);

// What arrives.

function item(task) {
    const made = template.content.firstElementChild.cloneNode(true);
    return fill(made, task);
}

function fill(item, task) {
    item.dataset.id = task.id;
    item.classList.toggle("done", task.done);
    item.querySelector("input[type=checkbox]").checked = task.done;
    item.querySelector(".text").textContent = task.text;
    return item;
}

function flash(item, kind) {
    item.classList.remove("new", "changed");
    void item.offsetWidth;
    item.classList.add(kind);
}

function applyInitial({ version, tasks }) {
    list.replaceChildren(...tasks.map(item));
    tell(version, `initial: ${tasks.length} ${tasks.length === 1 ? "task" : "tasks"}`, []);
}

function applyUpdate({ version, deletions, insertions, modifications }) {
    const focused = document.activeElement;
    const before = [...list.children];
    const removed = new Map();
    for (const index of deletions.toReversed()) {
        removed.set(before[index].dataset.id, before[index]);
        before[index].remove();
    }
    for (const { index, task } of insertions) {
        // A task that moved is a deletion and an insertion; its line is used again.
        const moved = removed.get(task.id);
        const line = moved ? fill(moved, task) : item(task);
        list.insertBefore(line, list.children[index] ?? null);
        flash(line, moved ? "changed" : "new");
        if (line.contains(focused)) focused.focus();
    }
    for (const { index, task } of modifications) flash(fill(before[index], task), "changed");

    tell(
        version,
        [
            ["deletions", deletions],
            ["insertions", insertions.map(entry => entry.index)],
            ["modifications", modifications.map(entry => entry.index)],
        ]
            .filter(([, places]) => places.length > 0)
            .map(([name, places]) => `${name} [${places.join(", ")}]`)
            .join(", "),
        [...insertions, ...modifications].map(entry => entry.task.changed)
    );
}

function tell(version, text, writes) {
    const line = document.createElement("li");
    const number = document.createElement("b");
    number.textContent = version;
    line.append(number, text);
    element("events").prepend(line);
    while (element("events").children.length > 8) element("events").lastElementChild.remove();

    const done = list.querySelectorAll(":scope > .done").length;
    element("version").textContent = version;
    element("open").textContent = list.children.length - done;
    element("done").textContent = done;
    element("nothing").hidden = list.children.length > 0;
    const wait = Date.now() - Math.max(...writes);
    if (Number.isFinite(wait)) element("latency").textContent = wait < 1 ? "< 1 ms" : `${Math.round(wait)} ms`;
}

function showConnection(state, text) {
    element("connection").dataset.state = state;
    element("connection").textContent = text;
}

// The browser comes back by itself when the connection is lost, and gets the whole list again.
const source = new EventSource("events");
source.addEventListener("open", () => showConnection("open", "connected"));
source.addEventListener("error", () => {
    showConnection("waiting", "reconnecting");
    if (source.readyState === EventSource.CLOSED) showConnection("closed", "ended: reload the page");
});
source.addEventListener("initial", event => applyInitial(JSON.parse(event.data)));
source.addEventListener("update", event => applyUpdate(JSON.parse(event.data)));

// What is asked for.

async function ask(method, path, fields) {
    let problem = "";
    try {
        const answer = await fetch(path, {
            method,
            headers: fields ? { "Content-Type": "application/json" } : {},
            body: fields ? JSON.stringify(fields) : undefined,
        });
        if (!answer.ok) problem = (await answer.json()).error;
    } catch {
        problem = "The server does not answer.";
    }
    element("problem").textContent = problem;
    element("problem").hidden = problem === "";
    return problem === "";
}

element("add").addEventListener("submit", async event => {
    event.preventDefault();
    const field = event.target.elements.text;
    const text = field.value;
    field.value = "";
    if (!await ask("POST", "tasks", { text }) && field.value === "") field.value = text;
});

const path = item => `tasks/${encodeURIComponent(item.dataset.id)}`;

list.addEventListener("change", async event => {
    if (event.target.type !== "checkbox") return;
    const item = event.target.closest("li");
    const done = event.target.checked;
    if (!await ask("PATCH", path(item), { done })) event.target.checked = !done;
});

list.addEventListener("click", event => {
    const item = event.target.closest("li");
    if (event.target.matches(".remove")) ask("DELETE", path(item));
    if (event.target.matches(".edit")) edit(item);
});

list.addEventListener("dblclick", event => {
    if (event.target.matches(".text")) edit(event.target.closest("li"));
});

function edit(item) {
    if (item.querySelector(".editor")) return;
    const shown = item.querySelector(".text");
    const editor = document.createElement("input");
    editor.className = "editor";
    editor.maxLength = 500;
    editor.value = shown.textContent;
    editor.setAttribute("aria-label", "The task's text");
    let isEnded = false;
    const end = async isKept => {
        // Removing the editor takes the focus from it, which ends it, too.
        if (isEnded) return;
        isEnded = true;
        editor.remove();
        item.classList.remove("editing");
        if (isKept && editor.value !== shown.textContent) await ask("PATCH", path(item), { text: editor.value });
    };
    editor.addEventListener("keydown", event => {
        if (event.key === "Enter") end(true);
        if (event.key === "Escape") end(false);
    });
    editor.addEventListener("blur", () => end(true));
    item.classList.add("editing");
    item.querySelector("label").after(editor);
    editor.focus();
}
