// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

import { APIError, failureOf, parseWarnings } from './api'

// LogLine is a line of the log of a container.
export interface LogLine {
  // key differs for each line.
  key: number
  // source is the pod and the container.
  source: string
  text: string
}

let lastKey = 0

function parseLine(line: string): LogLine {
  const [, source = '', text = ''] = /^(?:\[pod\/([^\]]+)\] )?(.*)$/s.exec(line) ?? []
  return { key: ++lastKey, source, text }
}

// followLogs passes on the lines of the logs of a box and the warnings, until the stream ends or is stopped. It throws an APIError if the
// server refuses the request, or if the connection is lost.
export async function followLogs(path: string, signal: AbortSignal, onLines: (lines: LogLine[], warnings: string[]) => void): Promise<void> {
  try {
    const response = await fetch(path, { signal })
    if (!response.ok || !response.body) throw failureOf(response, await response.text())
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
    const warnings = parseWarnings(response.headers.get('Warning'))
    let rest = ''
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      const lines = (rest + value).split('\n')
      rest = lines.pop() ?? ''
      if (lines.length > 0) onLines(lines.map(parseLine), warnings)
    }
    if (rest) onLines([parseLine(rest)], warnings)
  } catch (error) {
    if (signal.aborted || error instanceof APIError) throw error
    throw new APIError(0, 'the connection was lost')
  }
}
