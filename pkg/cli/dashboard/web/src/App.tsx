// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

import { useEffect, useRef, useState, type ReactNode } from 'react'
import { APIError, request, type Settings } from './api'
import { BoxView } from './BoxView'
import { NamespaceContext, retryAll, useOutage, useRoute } from './hooks'
import { NamespaceView } from './NamespaceView'
import { NetworkView } from './NetworkView'
import { Failure, Loading } from './parts'
import { StackView } from './StackView'

// Banner says that what the page shows is not what there is now.
function Banner(): ReactNode {
  const outage = useOutage()
  return (
    <div role="alert">
      {outage && (
        <p className="banner">
          <span>
            Not connected: {outage.message}. The page shows the state at {outage.since.toLocaleTimeString()}, and tries again.
          </span>
          <button type="button" onClick={retryAll}>
            Try now
          </button>
        </p>
      )}
    </div>
  )
}

// kinds are the kinds of objects that have a view, by the first part of its address.
const kinds: Record<string, string> = { stacks: 'Stack', boxes: 'Box', networks: 'Network' }

function View({ route }: { route: string[] }): ReactNode {
  const [kind, name, section] = route
  if (kind === 'stacks' && name) return <StackView key={name} name={name} />
  if (kind === 'boxes' && name) return <BoxView key={name} name={name} section={section} />
  if (kind === 'networks' && name) return <NetworkView key={name} name={name} />
  return <NamespaceView />
}

export function App(): ReactNode {
  const [settings, setSettings] = useState<Settings>()
  const [error, setError] = useState<APIError>()
  const route = useRoute()
  const main = useRef<HTMLElement>(null)
  const isFirst = useRef(true)
  const view = route.slice(0, 2).join('/')
  useEffect(() => {
    request<Settings>('GET', '/settings.json')
      .then(({ object }) => setSettings(object))
      .catch((failure: APIError) => setError(failure))
  }, [])
  useEffect(() => {
    document.title = [...view.split('/').slice(1), settings?.namespace, 'ModelBox'].filter(Boolean).join(' · ')
  }, [view, settings])
  useEffect(() => {
    // A screen reader begins to read the new view.
    if (!isFirst.current) {
      main.current?.focus({ preventScroll: true })
      scrollTo(0, 0)
    }
    isFirst.current = false
  }, [view])
  if (error) return <main><Failure what="the settings of the page" error={error} /></main>
  if (!settings) return <main><Loading /></main>
  return (
    <NamespaceContext.Provider value={settings.namespace}>
      <header>
        <nav aria-label="Breadcrumb">
          <ol>
            <li>
              <a href="#/" aria-current={view ? undefined : 'page'}>
                {settings.namespace}
              </a>
            </li>
            {view && (
              <li>
                <span aria-current="page">
                  {kinds[route[0] ?? '']} {route[1]}
                </span>
              </li>
            )}
          </ol>
        </nav>
        <span className="quiet">{settings.server}</span>
      </header>
      <Banner />
      <main ref={main} tabIndex={-1}>
        <View route={route} />
      </main>
      <footer className="quiet">
        <a href="/THIRD_PARTY_LICENSES.txt">Licenses</a>
      </footer>
    </NamespaceContext.Provider>
  )
}
