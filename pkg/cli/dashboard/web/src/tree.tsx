// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

import { type ReactNode } from 'react'
import type { APIError, Resource } from './api'
import { boxReady, childrenOf, containerSummary, podSummary, summaryOf, type Health } from './health'
import { useResource } from './hooks'
import { Age, Status } from './parts'
import type { Condition, ContainerStatus, ModelBox, Pod, Workload, WorkloadObject } from './types'

// Node is a line of the tree of a box.
interface Node {
  uid: string
  name: string
  ready?: string
  status: string
  health: Health
  since?: string
  message: string
  nodes: Node[]
}

// workloadResources are those of the kinds of workloads.
export const workloadResources: Record<Workload, Resource> = { Deployment: 'deployments', StatefulSet: 'statefulsets', DaemonSet: 'daemonsets' }

// useTree returns the box with its children down to containers, and which kinds cannot be read.
export function useTree(box: ModelBox): { node: Node; failures: { what: string; error: APIError }[] } {
  const selector = `modelbox=${box.metadata.name}`
  const kind = box.spec.workload ?? 'Deployment'
  const workloads = useResource<WorkloadObject>(workloadResources[kind], selector)
  const replicaSets = useResource<WorkloadObject>(kind === 'Deployment' ? 'replicasets' : undefined, selector)
  const pods = useResource<Pod>('pods', selector)
  const failures: { what: string; error: APIError }[] = []
  for (const [what, { error }] of [[workloadResources[kind], workloads], ['replicasets', replicaSets], ['pods', pods]] as const) {
    if (error?.isRefusal) failures.push({ what, error })
  }
  const podsOf = (owner: WorkloadObject) => childrenOf(owner, pods.items).map(podNode)
  const summary = summaryOf(box, 'box')
  const node: Node = {
    uid: box.metadata.uid,
    name: `ModelBox/${box.metadata.name}`,
    ready: boxReady(box),
    ...summary,
    // The view has it above the tree.
    message: '',
    since: box.metadata.creationTimestamp,
    nodes: childrenOf(box, workloads.items).map((workload) => ({
      ...workloadNode(kind, workload),
      nodes:
        kind === 'Deployment'
          ? childrenOf(workload, replicaSets.items)
              // Those of revisions before are kept for a rollback, and have no pods.
              .filter((set) => (set.spec.replicas ?? 1) > 0 || (set.status?.replicas ?? 0) > 0)
              .map((set) => ({ ...workloadNode('ReplicaSet', set), nodes: podsOf(set) }))
          : podsOf(workload),
    })),
  }
  return { node, failures }
}

function isFailure(condition: Condition): boolean {
  return (condition.type === 'ReplicaFailure' && condition.status === 'True') || (condition.type === 'Progressing' && condition.status === 'False')
}

function workloadNode(kind: string, workload: WorkloadObject): Node {
  const { metadata, spec, status = {} } = workload
  const ready = (kind === 'DaemonSet' ? status.numberReady : status.readyReplicas) ?? 0
  const desired = (kind === 'DaemonSet' ? status.desiredNumberScheduled : spec.replicas) ?? (kind === 'DaemonSet' ? 0 : 1)
  const node: Node = {
    uid: metadata.uid,
    name: `${kind}/${metadata.name}`,
    ready: `${ready}/${desired}`,
    status: '',
    health: ready >= desired ? 'healthy' : 'underway',
    since: metadata.creationTimestamp,
    message: '',
    nodes: [],
  }
  const revision = metadata.annotations?.['deployment.kubernetes.io/revision']
  if (kind === 'ReplicaSet' && revision) node.status = `revision ${revision}`
  if (spec.paused) node.status = 'Paused'
  const failure = status.conditions?.find(isFailure)
  if (failure) Object.assign(node, { status: failure.reason, message: failure.message, health: 'failing' })
  if (metadata.deletionTimestamp) Object.assign(node, { status: 'Terminating', health: 'underway' })
  return node
}

function podNode(pod: Pod): Node {
  const { restarts, ...summary } = podSummary(pod)
  return {
    uid: pod.metadata.uid,
    name: `Pod/${pod.metadata.name}`,
    ...summary,
    status: restarts ? `${summary.status}, ${restarts} restart${restarts > 1 ? 's' : ''}` : summary.status,
    since: pod.metadata.creationTimestamp,
    nodes: [
      ...(pod.spec.initContainers ?? []).map((container) => containerNode(pod, 'InitContainer', container, pod.status?.initContainerStatuses)),
      ...pod.spec.containers.map((container) => containerNode(pod, 'Container', container, pod.status?.containerStatuses)),
    ],
  }
}

function containerNode(pod: Pod, kind: string, { name, image }: { name: string; image: string }, statuses: ContainerStatus[] = []): Node {
  const status = statuses.find((container) => container.name === name)
  const summary = containerSummary(status)
  return {
    uid: `${pod.metadata.uid}/${kind}/${name}`,
    name: `${kind}/${name}`,
    ...summary,
    status: status?.restartCount ? `${summary.status}, ${status.restartCount} restart${status.restartCount > 1 ? 's' : ''}` : summary.status,
    since: status?.state?.running?.startedAt ?? status?.state?.terminated?.finishedAt,
    message: [image, summary.message].filter(Boolean).join(': '),
    nodes: [],
  }
}

// uidsOf returns the UIDs of all objects of a tree.
export function uidsOf(node: Node): Set<string> {
  return new Set([node.uid, ...node.nodes.flatMap((child) => [...uidsOf(child)])])
}

function Branch({ node }: { node: Node }): ReactNode {
  return (
    <li>
      <div className="line">
        <span className="name">{node.name}</span>
        <span>{node.ready}</span>
        <Status health={node.health}>{node.status || (node.health === 'healthy' ? 'Ready' : 'Progressing')}</Status>
        <span className="age">
          <Age from={node.since} />
        </span>
        <span className="message">{node.message}</span>
      </div>
      {node.nodes.length > 0 && (
        <ul>
          {node.nodes.map((child) => (
            <Branch key={child.uid} node={child} />
          ))}
        </ul>
      )}
    </li>
  )
}

export function Tree({ root }: { root: Node }): ReactNode {
  return (
    <div className="scroll">
      <ul className="tree">
        <Branch node={root} />
      </ul>
    </div>
  )
}
