// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

import { type ReactNode } from 'react'
import type { APIError, Resource } from './api'
import { boxReady, childrenOf, containerSummary, podSummary, replicasOf, summaryOf, type Health } from './health'
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
export const workloadResources: Record<Workload, Resource> = {
  Deployment: 'deployments',
  StatefulSet: 'statefulsets',
  DaemonSet: 'daemonsets',
  Job: 'jobs',
  CronJob: 'cronjobs',
}

// betweenPods are the resources of the objects between a workload and its pods.
const betweenPods: Partial<Record<Workload, { kind: string; resource: Resource }>> = {
  Deployment: { kind: 'ReplicaSet', resource: 'replicasets' },
  CronJob: { kind: 'Job', resource: 'jobs' },
}

// useTree returns the box with its children down to containers, and which kinds cannot be read.
export function useTree(box: ModelBox): { node: Node; failures: { what: string; error: APIError }[] } {
  const selector = `modelbox=${box.metadata.name}`
  const kind = box.spec.workload ?? 'Deployment'
  const workloads = useResource<WorkloadObject>(workloadResources[kind], selector)
  const between = betweenPods[kind]
  const owners = useResource<WorkloadObject>(between?.resource, selector)
  const pods = useResource<Pod>('pods', selector)
  const failures: { what: string; error: APIError }[] = []
  for (const [what, { error }] of [[workloadResources[kind], workloads], [between?.resource ?? '', owners], ['pods', pods]] as const) {
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
    nodes: childrenOf(box, workloads.items)
      // The Jobs before and after rollouts are no part of what runs.
      .filter((workload) => !workload.metadata.labels?.['model.github.com/job-type'])
      .map((workload) => ({
        ...workloadNode(kind, workload),
        nodes: between
          ? childrenOf(workload, owners.items)
              // The ReplicaSets of revisions before are kept for a rollback, and have no pods.
              .filter((owner) => between.kind !== 'ReplicaSet' || (owner.spec.replicas ?? 1) > 0 || (owner.status?.replicas ?? 0) > 0)
              .map((owner) => ({ ...workloadNode(between.kind, owner), nodes: podsOf(owner) }))
          : podsOf(workload),
      })),
  }
  return { node, failures }
}

function isFailure(condition: Condition): boolean {
  if (condition.type === 'Failed') return condition.status === 'True'
  return (condition.type === 'ReplicaFailure' && condition.status === 'True') || (condition.type === 'Progressing' && condition.status === 'False')
}

// jobStatus is the status of a Job or a CronJob in the words of "kubectl get".
function jobStatus(kind: string, { spec, status = {} }: WorkloadObject): string {
  if (kind === 'CronJob') return spec.suspend ? 'Suspended' : `${Array.isArray(status.active) ? status.active.length : 0} active`
  if (status.conditions?.some(({ type, status }) => type === 'Complete' && status === 'True')) return 'Complete'
  return spec.suspend ? 'Suspended' : 'Running'
}

function workloadNode(kind: string, workload: WorkloadObject): Node {
  const { metadata, spec, status = {} } = workload
  const [ready, desired] = replicasOf(kind, workload)
  const isJob = kind === 'Job' || kind === 'CronJob'
  const node: Node = {
    uid: metadata.uid,
    name: `${kind}/${metadata.name}`,
    ready: kind === 'CronJob' ? undefined : `${ready}/${desired}`,
    status: isJob ? jobStatus(kind, workload) : '',
    health: kind === 'CronJob' || ready >= desired ? 'healthy' : 'underway',
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
