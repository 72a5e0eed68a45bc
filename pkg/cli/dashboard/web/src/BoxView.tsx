// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

import { type ReactNode } from 'react'
import { stringify } from 'yaml'
import { boxActions, rollbackAction, type Action } from './action'
import { ActionButton, useActions } from './actions'
import { pathOf } from './api'
import { Checks } from './checks'
import { Conditions, Events } from './conditions'
import { boxReady, boxRollout, describeStep, summaryOf } from './health'
import { useNamespace, useRead, useResource } from './hooks'
import { LogsSection } from './LogsSection'
import { PodNetworks } from './PodNetworks'
import { Age, Failure, Loading, Status, Table } from './parts'
import { Tree, uidsOf, useTree, workloadResources } from './tree'
import type { Diff, Event, History, KubeObject, ModelBox } from './types'
import { UsageSection } from './UsageSection'

const sections = { '': 'Overview', logs: 'Logs', usage: 'Usage', history: 'History', drift: 'Drift', yaml: 'YAML' }

function Overview({ box }: { box: ModelBox }): ReactNode {
  const { node, failures } = useTree(box)
  const events = useResource<Event>('events')
  return (
    <>
      <h2>Children</h2>
      {failures.map(({ what, error }) => (
        <Failure key={what} what={what} error={error} />
      ))}
      <Tree root={node} />
      <PodNetworks boxes={[box]} />
      <Conditions conditions={box.status?.conditions ?? []} />
      <Events events={events} uids={uidsOf(node)} />
    </>
  )
}

function HistorySection({ box, onAsk }: { box: ModelBox; onAsk: (action: Action) => void }): ReactNode {
  const name = box.metadata.name
  const { object, error } = useRead<History>(pathOf(useNamespace(), 'modelboxes', name, 'history'), box.metadata.resourceVersion)
  if (error) return <Failure what="the history" error={error} />
  if (!object) return <Loading />
  const revisions = [...(object.revisions ?? [])].reverse()
  return (
    <ol className="history">
      {revisions.map((revision, index) => (
        <li key={revision.revision}>
          <h2>
            Revision {revision.revision} {index === 0 && <span className="quiet">newest</span>}
          </h2>
          <p>
            <span className="image">{revision.images?.join(', ')}</span>, <Age from={revision.creationTimestamp} /> old
            {revision.changedBy && <>, changed by {revision.changedBy}</>}
            {revision.changeCause && <>: {revision.changeCause}</>}
          </p>
          {revision.failure && (
            <p>
              <Status health="failing">The rollout failed: {revision.failure}</Status>
            </p>
          )}
          {revision.unknown && <p className="quiet">Its spec is not known: {revision.unknown}</p>}
          {revision.changes && revision.changes.length > 0 && (
            <Fields caption={`Changes of revision ${revision.revision}`} before="Before" after="After">
              {revision.changes.map((change) => (
                <tr key={change.path}>
                  <th scope="row">{change.path}</th>
                  <td className="removed">{change.before}</td>
                  <td className="added">{change.after}</td>
                </tr>
              ))}
            </Fields>
          )}
          {index > 0 && !revision.unknown && <ActionButton action={rollbackAction(box, revision.revision)} onAsk={onAsk} />}
        </li>
      ))}
    </ol>
  )
}

function Fields({ caption, before, after, manager, children }: { caption: string; before: string; after: string; manager?: string; children: ReactNode }): ReactNode {
  return (
    <Table className="fields" caption={caption} columns={['Field', before, after, ...(manager ? [manager] : [])]}>
      {children}
    </Table>
  )
}

function DriftSection({ box }: { box: ModelBox }): ReactNode {
  // A change by another field manager is one of a child, and the box does not know it.
  const workloads = useResource<KubeObject>(workloadResources[box.spec.workload ?? 'Deployment'], `modelbox=${box.metadata.name}`)
  const version = [box, ...workloads.items].map((object) => object.metadata.resourceVersion).join()
  const { object, error } = useRead<Diff>(pathOf(useNamespace(), 'modelboxes', box.metadata.name, 'diff'), version)
  if (error) return <Failure what="the drift" error={error} />
  if (!object) return <Loading />
  const children = object.children ?? []
  return (
    <>
      {object.paused && <p>The box is paused: its children stay as they are.</p>}
      {children.every((child) => child.action === 'None' && !child.fields?.length) && <p>No child differs from the box.</p>}
      {children.map((child) => (
        <section key={`${child.kind}/${child.name}`}>
          <h2>
            {child.kind}/{child.name} <Status health={child.action === 'None' ? 'healthy' : child.action === 'Refuse' ? 'failing' : 'underway'}>{child.action}</Status>
          </h2>
          {(child.effect || child.message) && <p>{[child.effect, child.message].filter(Boolean).join(': ')}</p>}
          {child.fields && child.fields.length > 0 && (
            <Fields caption={`Fields of ${child.kind}/${child.name} that differ`} before="Live" after="Wanted" manager="Changed by">
              {child.fields.map((field) => (
                <tr key={field.path}>
                  <th scope="row">{field.path}</th>
                  <td className="removed">{field.live}</td>
                  <td className="added">{field.wanted}</td>
                  <td>
                    {field.manager || <span className="quiet">unknown</span>}
                    {field.ignored && <span className="quiet"> (ignored)</span>}
                  </td>
                </tr>
              ))}
            </Fields>
          )}
          {child.omittedFields ? <p className="quiet">{child.omittedFields} more fields differ</p> : null}
        </section>
      ))}
    </>
  )
}

function YAMLSection({ box }: { box: ModelBox }): ReactNode {
  const { object, error } = useRead<{ items: unknown[] }>(pathOf(useNamespace(), 'modelboxes', box.metadata.name, 'render'), String(box.metadata.generation))
  if (error) return <Failure what="the rendered children" error={error} />
  if (!object) return <Loading />
  return (
    <pre tabIndex={0} aria-label="The children of the box, as the server applies them">
      {object.items.map((item) => stringify(item, { lineWidth: 0, indentSeq: false })).join('---\n')}
    </pre>
  )
}

export function BoxView({ name, section = '' }: { name: string; section?: string }): ReactNode {
  const boxes = useResource<ModelBox>('modelboxes')
  const { ask, dialog, notice } = useActions()
  const box = boxes.items.find((item) => item.metadata.name === name)
  if (boxes.error?.isRefusal) return <Failure what="modelboxes" error={boxes.error} />
  if (!box) return boxes.isLoaded ? <p className="failure">There is no box {name}.</p> : <Loading />
  const { status, message, health } = summaryOf(box, 'box')
  const stack = box.metadata.labels?.['model.github.com/stack']
  const rollout = box.status?.rollout
  return (
    <>
      <h1>Box {name}</h1>
      <p>
        <Status health={health}>{status}</Status> {boxReady(box)} ready{health !== 'healthy' && message && <>: {message}</>}
      </p>
      <dl>
        <dt>Image</dt>
        <dd className="image">{box.spec.image}</dd>
        <dt>Workload</dt>
        <dd>{box.spec.workload}</dd>
        {boxRollout(box) && (
          <>
            <dt>Rollout</dt>
            <dd>{[boxRollout(box), describeStep(box), rollout?.reason, rollout?.message].filter(Boolean).join(': ')}</dd>
          </>
        )}
        {box.status?.address && (
          <>
            <dt>Address</dt>
            <dd>{box.status.address}</dd>
          </>
        )}
        {stack && (
          <>
            <dt>Stack</dt>
            <dd>
              <a href={`#/stacks/${stack}`}>{stack}</a>
            </dd>
          </>
        )}
        <dt>Age</dt>
        <dd>
          <Age from={box.metadata.creationTimestamp} />
        </dd>
      </dl>
      <div className="buttons">
        {boxActions(box).map((action) => (
          <ActionButton key={action.label} action={action} onAsk={ask} />
        ))}
        {notice}
      </div>
      {dialog}
      <Checks box={box} />
      <nav className="tabs" aria-label="Sections of the box">
        {Object.entries(sections).map(([key, label]) => (
          <a key={key} href={`#/boxes/${name}${key && `/${key}`}`} aria-current={key === section ? 'page' : undefined}>
            {label}
          </a>
        ))}
      </nav>
      {section === '' && <Overview box={box} />}
      {section === 'logs' && <LogsSection key={name} box={box} />}
      {section === 'usage' && <UsageSection key={box.metadata.uid} box={box} />}
      {section === 'history' && <HistorySection box={box} onAsk={ask} />}
      {section === 'drift' && <DriftSection box={box} />}
      {section === 'yaml' && <YAMLSection box={box} />}
    </>
  )
}
