// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

import { useEffect, useState } from 'react'
import { ApiProxy } from '@kinvolk/headlamp-plugin/lib'
import { requestOf, type Action } from '../../../pkg/cli/dashboard/web/src/action'
import { parseWarnings } from '../../../pkg/cli/dashboard/web/src/api'
import type { ModelObject } from './classes'
import type { Failure } from './parts'

// send does an action, or its dry run, and returns the warnings of the server: undefined if the page cannot read them, because the
// backend of Headlamp has another origin than the page, and does not expose their header.
export async function send(object: ModelObject, action: Action, isDryRun: boolean): Promise<string[] | undefined> {
  const { method, path, body, contentType = 'application/json' } = requestOf(object.metadata.namespace, action, 'headlamp', isDryRun)
  const response: Response = await ApiProxy.clusterRequest(path, {
    cluster: object.cluster,
    method,
    body: JSON.stringify(body),
    headers: { 'Content-Type': contentType, Accept: 'application/json' },
    isJSON: false,
  })
  const header = response.headers.get('Warning')
  return header === null && response.type === 'cors' ? undefined : parseWarnings(header)
}

interface Read<T> {
  object?: T
  error?: Failure
}

// useSubresource reads a subresource of an object, and again when the version changes.
export function useSubresource<T>(object: ModelObject, subresource: string, version: string | number | undefined): Read<T> {
  const { namespace, name } = object.metadata
  const { apiName, apiVersion } = object._class()
  const path = `/apis/${apiVersion}/namespaces/${namespace}/${apiName}/${name}/${subresource}`
  const [read, setRead] = useState<Read<T>>({})
  useEffect(() => {
    let isCurrent = true
    ApiProxy.clusterRequest(path, { cluster: object.cluster })
      .then((answer) => isCurrent && setRead({ object: answer }))
      .catch((error) => isCurrent && setRead({ error }))
    return () => {
      isCurrent = false
    }
  }, [path, object.cluster, version])
  return read
}
