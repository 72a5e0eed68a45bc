// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

import { type ReactNode } from 'react'
import { K8s } from '@kinvolk/headlamp-plugin/lib'
import { Link } from '@kinvolk/headlamp-plugin/lib/CommonComponents'
import type { KubeObject, KubeObjectClass } from '@kinvolk/headlamp-plugin/lib/K8s/cluster'
import { childrenOf, replicasOf } from '../../../pkg/cli/dashboard/web/src/health'
import type { WorkloadObject } from '../../../pkg/cli/dashboard/web/src/types'
import { useSubresource } from './api'
import type { ModelBox } from './classes'
import { Age, TableSection, type Failure } from './parts'

const workloads = ['Deployment', 'StatefulSet', 'DaemonSet', 'Job', 'CronJob']

interface Rendered {
  items: { kind: string; metadata: { name: string } }[]
}

// useKinds returns the kinds of the children of a box: of all that it is rendered into, or of its workload alone for a user who may not
// render it.
export function useKinds(object: ModelBox): string[] | undefined {
  const { object: rendered, error } = useSubresource<Rendered>(object, 'render', object.metadata.generation)
  const workload = object.box.spec.workload ?? 'Deployment'
  if (error) return [workload]
  return rendered && [...new Set([workload, ...rendered.items.map(({ kind }) => kind)])].sort()
}

interface Children {
  items: KubeObject[] | null
  failures: { what: string; error: Failure | null }[]
}

// useChildren returns the objects of kinds that a box controls. The kinds must be the same as long as the component is there.
export function useChildren(object: ModelBox, kinds: string[]): Children {
  const { namespace, name } = object.metadata
  const classes = kinds.flatMap((kind) => (K8s.ResourceClasses as Record<string, KubeObjectClass | undefined>)[kind] ?? [])
  const lists = classes.map((kubeObjectClass) => ({
    what: kubeObjectClass.pluralName,
    ...kubeObjectClass.useList({ namespace, cluster: object.cluster, labelSelector: `modelbox=${name}` }),
  }))
  const found = lists.flatMap(({ items }) => items ?? [])
  const owned = new Set(childrenOf(object.box, found.map(({ jsonData }) => jsonData)))
  return {
    items: lists.some(({ items, error }) => !items && !error) ? null : found.filter(({ jsonData }) => owned.has(jsonData)),
    failures: lists.map(({ what, error }) => ({ what, error })),
  }
}

function readyOf({ kind, jsonData }: KubeObject): string {
  if (!workloads.includes(kind) || kind === 'CronJob') return ''
  return replicasOf(kind, jsonData as WorkloadObject).join('/')
}

export function ChildrenSection({ items, failures }: Children): ReactNode {
  return (
    <TableSection<KubeObject>
      title="Children"
      rows={items}
      failures={failures}
      columns={[
        { label: 'Kind', cell: ({ kind }) => kind, width: 'auto' },
        { label: 'Name', cell: (child) => <Link kubeObject={child} />, width: '1fr' },
        { label: 'Ready', cell: readyOf, width: 'auto' },
        { label: 'Age', cell: ({ metadata }) => <Age from={metadata.creationTimestamp} />, width: 'auto' },
      ]}
    />
  )
}
