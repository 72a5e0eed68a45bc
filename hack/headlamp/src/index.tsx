// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

import { type ReactNode } from 'react'
import { Icon } from '@iconify/react'
import { registerKindIcon, registerMapSource, registerRoute, registerSidebarEntry } from '@kinvolk/headlamp-plugin/lib'
import { useParams } from 'react-router-dom'
import { BoxDetails } from './BoxDetails'
import { ModelBox, ModelStack, Network, PodDebugger } from './classes'
import { DebuggerDetails } from './DebuggerDetails'
import { icon } from './icon'
import { BoxList, DebuggerList, NetworkList, StackList } from './lists'
import { mapSource } from './map'
import { NetworkDetails } from './NetworkDetails'
import { StackDetails } from './StackDetails'

interface Page {
  label: string
  path: string
  kubeObjectClass: { kind: string; detailsRoute: string; listRoute: string }
  List: () => ReactNode
  Details: (props: { namespace: string; name: string }) => ReactNode
}

const pages: Page[] = [
  { label: 'Boxes', path: '/modelbox/boxes', kubeObjectClass: ModelBox, List: BoxList, Details: BoxDetails },
  { label: 'Stacks', path: '/modelbox/stacks', kubeObjectClass: ModelStack, List: StackList, Details: StackDetails },
  { label: 'Networks', path: '/modelbox/networks', kubeObjectClass: Network, List: NetworkList, Details: NetworkDetails },
  { label: 'Debuggers', path: '/modelbox/debuggers', kubeObjectClass: PodDebugger, List: DebuggerList, Details: DebuggerDetails },
]

registerSidebarEntry({ parent: null, name: 'modelbox', label: 'ModelBox', url: '/modelbox/boxes', icon })

for (const { label, path, kubeObjectClass, List, Details } of pages) {
  const { kind, listRoute, detailsRoute } = kubeObjectClass
  registerSidebarEntry({ parent: 'modelbox', name: listRoute, label, url: path })
  registerRoute({ path, sidebar: listRoute, name: listRoute, exact: true, component: () => <List /> })
  registerRoute({
    path: `${path}/:namespace/:name`,
    sidebar: listRoute,
    name: detailsRoute,
    exact: true,
    component: function DetailsPage() {
      const { namespace, name } = useParams<{ namespace: string; name: string }>()
      return <Details namespace={namespace} name={name} />
    },
  })
  registerKindIcon(kind, { icon: <Icon icon={icon} width="70%" height="70%" /> })
}

registerMapSource(mapSource)
