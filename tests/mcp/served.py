"""An assistant's side of `podpath mcp`: the SDK's own client, whose calls wait for their answer."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import jsonschema
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client, StdioServerParameters
from mcp.server.mcpserver import MCPServer
from mcp_types import CallToolResult, TextContent, TextResourceContents, Tool


@dataclass(frozen=True, slots=True)
class Assistant:
    """A client that is connected."""

    client: Client
    portal: BlockingPortal

    def list_tools(self) -> list[Tool]:
        """Return the tools that are offered."""
        return self.portal.call(self.client.list_tools).tools

    def call(self, tool: str, arguments: Mapping[str, object]) -> CallToolResult:
        """Call a tool, and hold what it answers against its published schema."""
        result: CallToolResult = self.portal.call(self.client.call_tool, tool, dict(arguments))
        if not result.is_error:
            (schema,) = (one.output_schema for one in self.list_tools() if one.name == tool)
            assert schema is not None
            jsonschema.validate(result.structured_content, schema)
        return result

    def ask(self, tool: str, **arguments: object) -> dict[str, Any]:
        """Call a tool that answers, and return its structured content."""
        result = self.call(tool, arguments)
        assert not result.is_error, said(result)
        answer: dict[str, Any] | None = result.structured_content
        assert answer is not None
        return answer

    def refuse(self, tool: str, **arguments: object) -> str:
        """Call a tool that refuses, and return why."""
        result = self.call(tool, arguments)
        assert result.is_error
        return said(result)

    def read(self, uri: str) -> str:
        """Read a resource."""
        (content,) = self.portal.call(self.client.read_resource, uri).contents
        assert isinstance(content, TextResourceContents)
        return content.text


def said(result: CallToolResult) -> str:
    """Return the text of an answer, as assistants read it that know no structured content."""
    return "\n".join(part.text for part in result.content if isinstance(part, TextContent))


@contextmanager
def serve(*options: str) -> Iterator[Assistant]:
    """Start `podpath mcp` with these options, as an assistant does: over standard input and
    output.
    """
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "podpath", "mcp", *options], env=dict(os.environ)
    )
    with connect(server) as assistant:
        yield assistant


@contextmanager
def connect(server: StdioServerParameters | MCPServer[object]) -> Iterator[Assistant]:
    """Connect to a server, started or in this process."""
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(Client(server)) as client,
    ):
        yield Assistant(client, portal)
