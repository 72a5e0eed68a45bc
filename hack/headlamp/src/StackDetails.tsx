// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

import { type ReactNode } from 'react'
import { DetailsGrid } from '@kinvolk/headlamp-plugin/lib/CommonComponents'
import { stackActions } from '../../../pkg/cli/dashboard/web/src/action'
import { boxNameOf, componentHealth, componentReady, summaryOf } from '../../../pkg/cli/dashboard/web/src/health'
import type { Component, ComponentStatus } from '../../../pkg/cli/dashboard/web/src/types'
import { Actions } from './actions'
import { ModelStack } from './classes'
import { Conditions } from './conditions'
import { Events } from './events'
import { ObjectLink, Status, StatusWithMessage, TableSection } from './parts'

interface Row {
  name: string
  component?: Component
  status?: ComponentStatus
}

function Components({ object: { stack, cluster, metadata } }: { object: ModelStack }): ReactNode {
  const components = new Map(stack.spec.components.map((component) => [component.name, component]))
  const statuses = new Map(stack.status?.components?.map((status) => [status.name, status]))
  // Those that are being deleted are in the status only.
  const names = [...new Set([...components.keys(), ...statuses.keys()])]
  const nameOf = ({ name, component }: Row) =>
    component?.box ? (
      <>
        {name} (<ObjectLink route="ModelBox" namespace={metadata.namespace} name={boxNameOf(stack, component)} cluster={cluster} />)
      </>
    ) : (
      `${name}${component?.external ? ` (${component.external.host}:${component.external.port})` : ''}`
    )
  return (
    <TableSection<Row>
      title="Components"
      rows={names.map((name) => ({ name, component: components.get(name), status: statuses.get(name) }))}
      columns={[
        { label: 'Component', cell: nameOf, width: 'auto' },
        { label: 'Ready', cell: ({ component, status }) => componentReady(component, status), width: 'auto' },
        { label: 'State', cell: ({ status }) => <Status health={componentHealth(status)}>{status?.state ?? 'Pending'}</Status>, width: 'auto' },
        { label: 'Depends on', cell: ({ component }) => component?.dependsOn?.join(', '), width: 'auto' },
        { label: 'Waiting for', cell: ({ status }) => status?.waitingFor?.join(', '), width: 'auto' },
        { label: 'Message', cell: ({ status }) => [status?.reason, status?.message].filter(Boolean).join(': '), width: '1fr' },
      ]}
    />
  )
}

function factsOf({ stack }: ModelStack) {
  return [
    { name: 'Status', value: <StatusWithMessage summary={summaryOf(stack, 'stack')} /> },
    { name: 'Ready', value: `${stack.status?.readyComponents ?? 0}/${stack.spec.components.length}` },
    { name: 'Waiting for', value: stack.status?.waitingFor, hide: !stack.status?.waitingFor },
  ]
}

function StackSections({ object }: { object: ModelStack }): ReactNode {
  const { namespace, uid } = object.metadata
  return (
    <>
      <Components object={object} />
      <Conditions conditions={object.stack.status?.conditions} />
      <Events namespace={namespace} cluster={object.cluster} uids={new Set([uid])} />
    </>
  )
}

export function StackDetails({ namespace, name, cluster }: { namespace: string; name: string; cluster?: string }): ReactNode {
  return (
    <DetailsGrid
      resourceType={ModelStack}
      namespace={namespace}
      name={name}
      cluster={cluster}
      extraInfo={(object) => object && factsOf(object)}
      actions={(object) => (object ? [{ id: 'modelbox-actions', action: <Actions object={object} actions={stackActions(object.stack)} /> }] : [])}
      extraSections={(object) => object && [{ id: 'modelbox-sections', section: <StackSections object={object} /> }]}
    />
  )
}
