// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

import { APIError, request } from './api'
import type { KubeObject } from './types'

// How long to wait after a failure: twice as long after each, and never all pages at once.
const firstDelay = 1000
const longestDelay = 30_000
// How long changes are collected before they are shown: one rarely comes alone.
const settle = 100
// A watch that ends sooner was not one.
const shortestWatch = 1000
const pageSize = 500

export interface Snapshot<T> {
  // items are in the order of their names.
  items: readonly T[]
  // isLoaded says that the resource was listed at least once, or that it cannot be.
  isLoaded: boolean
  // error is why the resource cannot be listed or watched.
  error?: APIError
  // liveUntil is when the items were as they are in the cluster last, undefined while they are.
  liveUntil?: Date
}

interface WatchEvent<T> {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR'
  object: T
}

interface List<T> {
  metadata: { resourceVersion: string; continue?: string }
  items: T[]
}

// Collection is what a list of the API has now. It lists and watches while it has subscribers.
//
// It watches by WebSockets, as the API serves them: a browser has no more than six other connections to an address, in all its
// tabs, and each watch would keep one.
export class Collection<T extends KubeObject> {
  private readonly path: string
  private readonly selector: string
  private readonly items = new Map<string, T>()
  private readonly listeners = new Set<() => void>()
  private snapshot: Snapshot<T> = { items: [], isLoaded: false }
  private timer = 0
  private stop?: AbortController
  private wake?: () => void

  constructor(path: string, labelSelector: string) {
    this.path = path
    this.selector = labelSelector
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener)
    if (!this.stop) {
      this.stop = new AbortController()
      void this.run(this.stop.signal)
    }
    return () => {
      this.listeners.delete(listener)
      // A view that takes the place of another one often wants the same.
      setTimeout(() => {
        if (this.listeners.size > 0) return
        this.stop?.abort()
        this.stop = undefined
      })
    }
  }

  readonly getSnapshot = (): Snapshot<T> => this.snapshot

  get isUsed(): boolean {
    return this.listeners.size > 0
  }

  // retry ends the wait after a failure.
  readonly retry = (): void => this.wake?.()

  private async run(signal: AbortSignal): Promise<void> {
    let version = ''
    let delay = firstDelay
    while (!signal.aborted) {
      try {
        if (version === '') version = await this.list(signal)
        const ended = await this.watch(version, signal)
        version = ended.version
        delay = firstDelay
      } catch (error) {
        if (signal.aborted) return
        version = ''
        const failure = error instanceof APIError ? error : new APIError(0, String(error))
        this.publish({ error: failure, isLoaded: this.snapshot.isLoaded || failure.isRefusal, liveUntil: this.snapshot.liveUntil ?? new Date() })
        await this.sleep(delay * (0.75 + Math.random() / 2))
        delay = Math.min(2 * delay, longestDelay)
      }
    }
  }

  // list reads the resource page by page, and returns its version.
  private async list(signal: AbortSignal): Promise<string> {
    const found = new Map<string, T>()
    let version = ''
    let next = ''
    do {
      const { object: page } = await request<List<T>>('GET', this.url({ limit: String(pageSize), ...(next ? { continue: next } : {}) }), { signal })
      for (const item of page.items) {
        const known = this.items.get(item.metadata.uid)
        found.set(item.metadata.uid, known?.metadata.resourceVersion === item.metadata.resourceVersion ? known : item)
      }
      version = page.metadata.resourceVersion
      next = page.metadata.continue ?? ''
    } while (next)
    this.items.clear()
    for (const [uid, item] of found) this.items.set(uid, item)
    this.publish({ isLoaded: true, liveUntil: this.snapshot.liveUntil && new Date() })
    return version
  }

  // watch follows the resource from a version until the connection ends, and returns the version to go on from: none where that is
  // too old. It fails if there is no connection.
  private watch(version: string, signal: AbortSignal): Promise<{ version: string }> {
    const query = { watch: 'true', allowWatchBookmarks: 'true', resourceVersion: version }
    return new Promise((resolve, reject) => {
      const socket = new WebSocket(new URL(this.url(query), location.href.replace(/^http/, 'ws')))
      let openedAt = 0
      const abort = () => socket.close()
      signal.addEventListener('abort', abort)
      socket.onopen = () => {
        openedAt = Date.now()
        this.publish({ error: undefined, liveUntil: undefined })
      }
      socket.onmessage = ({ data }: MessageEvent<string>) => {
        const event = JSON.parse(data) as WatchEvent<T>
        if (event.type === 'ERROR') {
          const status = event.object as unknown as { code?: number; message?: string }
          socket.onclose = null
          socket.close()
          signal.removeEventListener('abort', abort)
          if (status.code === 410) resolve({ version: '' })
          else reject(new APIError(status.code ?? 500, status.message ?? 'the watch has failed'))
          return
        }
        version = event.object.metadata.resourceVersion
        this.apply(event)
      }
      socket.onclose = () => {
        signal.removeEventListener('abort', abort)
        if (signal.aborted || (openedAt && Date.now() - openedAt > shortestWatch)) resolve({ version })
        else this.whyNoWatch(query, signal).then(reject, reject)
      }
    })
  }

  // whyNoWatch returns why there is no watch, which a WebSocket does not tell.
  private async whyNoWatch(query: Record<string, string>, signal: AbortSignal): Promise<APIError> {
    try {
      await request('GET', this.url({ ...query, timeoutSeconds: '1' }), { signal })
    } catch (error) {
      // An empty watch is no JSON, and an answer.
      if (error instanceof APIError && error.code !== 200) return error
    }
    return new APIError(0, 'a WebSocket to the cluster cannot be opened')
  }

  private apply({ type, object }: WatchEvent<T>): void {
    if (type === 'BOOKMARK') return
    if (type === 'DELETED') this.items.delete(object.metadata.uid)
    else this.items.set(object.metadata.uid, object)
    if (!this.timer) {
      this.timer = window.setTimeout(() => {
        this.timer = 0
        this.publish({})
      }, settle)
    }
  }

  private publish(change: Partial<Snapshot<T>>): void {
    const items = [...this.items.values()].sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
    this.snapshot = { ...this.snapshot, ...change, items }
    for (const listener of this.listeners) listener()
  }

  private sleep(delay: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, delay)
      this.wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  private url(query: Record<string, string>): string {
    const parameters = new URLSearchParams(query)
    if (this.selector) parameters.set('labelSelector', this.selector)
    return `${this.path}?${parameters}`
  }
}
