/** What every page does besides. `scrollIntoView` would also move the place from where the next key goes on. */
document.addEventListener("DOMContentLoaded", () => {
  const sidebar = document.querySelector("#starlight__sidebar")
  const current = sidebar?.querySelector("[aria-current=page]")
  // The sidebar is longer than a screen, and begins with the guides, whichever page is read.
  const showCurrent = () => {
    const { bottom, top } = current.getBoundingClientRect()
    if (top < 100 || bottom > innerHeight - 100) sidebar.scrollTop += top - innerHeight / 2
  }
  if (current) {
    showCurrent()
    // On a phone it is a menu.
    sidebar.addEventListener("toggle", showCurrent)
  }
  // A title alone is no name for it.
  document.addEventListener("focusin", ({ target }) => {
    if (target.matches(".pagefind-ui__search-input")) target.ariaLabel = "Search"
  })
})
