// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// APIError is a request that has failed. The message is that of the Status that the API answers.
export class APIError extends Error {
  // code is that of HTTP, 0 where there is no answer.
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }

  // isRefusal says that the cluster answers, and does not let the user do it, or does not know it.
  get isRefusal(): boolean {
    return this.code === 403 || this.code === 404 || this.code === 405
  }
}

export interface Answer<T> {
  object: T
  warnings: string[]
}

interface RequestOptions {
  body?: unknown
  contentType?: string
  signal?: AbortSignal
}

// request sends a request to the API. An answer that is no success is an APIError.
export async function request<T>(method: string, path: string, options: RequestOptions = {}): Promise<Answer<T>> {
  let response: Response
  let text: string
  try {
    response = await fetch(path, {
      method,
      signal: options.signal,
      headers: { Accept: 'application/json', ...(options.body ? { 'Content-Type': options.contentType ?? 'application/json' } : {}) },
      body: options.body ? JSON.stringify(options.body) : undefined,
    })
    text = await response.text()
  } catch (error) {
    if (options.signal?.aborted) throw error
    throw new APIError(0, 'kubectl modelbox dashboard does not answer')
  }
  const object = parseObject(text)
  if (!response.ok || object === undefined) throw failureOf(response, text)
  return { object: object as T, warnings: parseWarnings(response.headers.get('Warning')) }
}

// parseObject returns undefined for a text that is not JSON.
function parseObject(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

// failureOf returns the failure in a response with the text.
export function failureOf(response: Response, text: string): APIError {
  const message = (parseObject(text) as { message?: string } | undefined)?.message
  return new APIError(response.status, message || text.trim() || response.statusText)
}

// parseWarnings returns the texts of Warning headers, which a browser joins.
export function parseWarnings(header: string | null): string[] {
  return [...(header ?? '').matchAll(/\d{3} \S+ "((?:[^"\\]|\\.)*)"/g)].map((match) => (match[1] ?? '').replace(/\\(.)/g, '$1'))
}

export interface Settings {
  namespace: string
  server: string
}

export interface Access {
  verb: string
  resource: 'modelboxes' | 'modelstacks'
  subresource?: string
  name: string
}

// mayAccess asks the API whether the user may do something.
export async function mayAccess(namespace: string, access: Access): Promise<boolean> {
  const { object } = await request<{ status?: { allowed?: boolean } }>('POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
    body: {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      spec: { resourceAttributes: { namespace, group: 'model.github.com', version: 'v1', ...access } },
    },
  })
  return object.status?.allowed === true
}

// Resources are those that the page watches.
export type Resource = 'modelboxes' | 'modelstacks' | 'networks' | 'deployments' | 'statefulsets' | 'daemonsets' | 'replicasets' | 'jobs' | 'cronjobs' | 'pods' | 'events'

const groups: Record<Resource, string> = {
  modelboxes: '/apis/model.github.com/v1',
  modelstacks: '/apis/model.github.com/v1',
  networks: '/apis/model.github.com/v1',
  deployments: '/apis/apps/v1',
  statefulsets: '/apis/apps/v1',
  daemonsets: '/apis/apps/v1',
  jobs: '/apis/batch/v1',
  cronjobs: '/apis/batch/v1',
  replicasets: '/apis/apps/v1',
  pods: '/api/v1',
  events: '/api/v1',
}

// pathOf returns the path of a resource, of an object of it, or of a subresource of the object.
export function pathOf(namespace: string, resource: Resource, ...rest: string[]): string {
  return [groups[resource], 'namespaces', namespace, resource, ...rest].join('/')
}
