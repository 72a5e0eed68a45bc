// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

import { spawn } from 'node:child_process'
import { createReadStream, existsSync } from 'node:fs'
import { createServer, request } from 'node:http'
import { extname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'

const folder = (path) => fileURLToPath(new URL(path, import.meta.url))
const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.json': 'application/json', '.svg': 'image/svg+xml' }

// The folders with files, by the beginnings of their paths.
const folders = { '/plugins/': folder('../../../artifacts/headlamp/'), '/': folder('../../../_output/headlamp-page/') }

// startProxy starts "kubectl proxy", and returns its process and its port.
async function startProxy(kubectl, args) {
  const child = spawn(kubectl, ['proxy', '--port=0', '--api-prefix=/', ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  const port = await new Promise((resolve, reject) => {
    child.stdout.on('data', (data) => {
      const found = /127\.0\.0\.1:(\d+)/.exec(String(data))
      if (found) resolve(Number(found[1]))
    })
    child.on('exit', (code) => reject(new Error(`kubectl proxy ended with ${code}`)))
  })
  return { child, port }
}

// startServer starts a server that does what the page asks the backend of Headlamp for: it has the plugins and the clusters, and forwards
// requests to the API of each. The clusters have the flags of kubectl by their names.
export async function startServer(kubectl, clusters) {
  const proxies = {}
  for (const [name, args] of Object.entries(clusters)) proxies[name] = await startProxy(kubectl, args)
  // upstream returns where a request goes to, undefined for one that is not for a cluster.
  const upstream = ({ url, method, headers }) => {
    const [, name, path] = /^\/clusters\/([^/]+)(\/.*)$/.exec(url) ?? []
    const proxy = proxies[name]
    return proxy && { host: '127.0.0.1', port: proxy.port, path, method, headers: { ...headers, host: `127.0.0.1:${proxy.port}` } }
  }
  const json = (response, body) => response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
  const server = createServer((incoming, response) => {
    const to = upstream(incoming)
    if (to) {
      const forwarded = request(to, (answer) => {
        response.writeHead(answer.statusCode, answer.headers)
        answer.pipe(response)
      })
      forwarded.on('error', () => response.destroy())
      incoming.pipe(forwarded)
      return
    }
    const path = normalize(new URL(incoming.url, 'http://localhost').pathname)
    if (path === '/config') return json(response, { clusters: Object.keys(proxies).map((name) => ({ name, auth_type: '' })) })
    if (path === '/plugins') return json(response, [{ path: 'plugins/modelbox', type: 'development', name: 'modelbox' }])
    const [prefix, files] = Object.entries(folders).find(([beginning]) => path.startsWith(beginning))
    const file = join(files, path.slice(prefix.length))
    const found = extname(file) && existsSync(file) ? file : undefined
    if (!found && extname(file)) return response.writeHead(404).end()
    // The paths of views have no files.
    const served = found ?? join(folders['/'], 'index.html')
    response.writeHead(200, { 'Content-Type': types[extname(served)] ?? 'application/octet-stream' })
    createReadStream(served).pipe(response)
  })
  server.on('upgrade', (incoming, socket, head) => {
    const forwarded = request(upstream(incoming) ?? { host: '127.0.0.1', port: 1 })
    forwarded.on('upgrade', (answer, other, first) => {
      const lines = Object.entries(answer.headers).map(([name, value]) => `${name}: ${value}\r\n`)
      socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('')}\r\n`)
      socket.write(first)
      other.write(head)
      other.pipe(socket).pipe(other)
      other.on('error', () => socket.destroy())
    })
    forwarded.on('response', () => socket.destroy())
    forwarded.on('error', () => socket.destroy())
    socket.on('error', () => forwarded.destroy())
    forwarded.end()
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    stop() {
      server.closeAllConnections()
      server.close()
      for (const { child } of Object.values(proxies)) child.kill()
    },
  }
}
