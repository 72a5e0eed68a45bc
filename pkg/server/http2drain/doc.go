// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package http2drain ends connections of HTTP/2 without losing requests.
//
// GOAWAY ends a connection of HTTP/2. It names the last stream that the server handles, and the client sends requests of later
// streams again on another connection. golang.org/x/net/http2 names the last stream that it has read, and drops all requests that
// are on their way to it. The aggregation layer cannot send requests with a body again: it has no copy of the body.
//
// This package sends another GOAWAY first, which RFC 9113 (section 6.8) recommends. It names the highest possible stream. The
// client then opens no more streams on the connection, and the server continues to serve the ones that are on their way. A client
// of Go closes the connection after its last stream.
//
// A client of Go also fails a request with a body if GOAWAY arrives after the request has chosen the connection, and before it
// opens its stream. Therefore the server sends GOAWAY at a moment when the client is not about to open a stream. It holds its answers
// back, so that clients that wait for an answer send no requests, and no stream ends. It lowers the limit of concurrent streams to
// somewhat more than are open. When the client has reached that limit, it sends its next requests on another connection.
package http2drain
