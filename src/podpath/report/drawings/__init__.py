"""The path of a connection as a picture: what is drawn, and how SVG and Mermaid draw it."""
