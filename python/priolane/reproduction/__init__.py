"""Running figures of the study again, and the page of what came out."""
