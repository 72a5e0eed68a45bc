// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// The parts of Headlamp that its npm package has: the store, the theme, the sidebar, the routes, and what loads plugins from a server. The
// package has no top bar, and not what reads the configuration of the clusters.

import '@kinvolk/headlamp-plugin/lib/i18n/config'
// Its modules import each other in circles, and have to be loaded from here.
import Plugins from '@kinvolk/headlamp-plugin/lib/plugin/Plugins'
import { Box, Container, CssBaseline } from '@mui/material'
import { StyledEngineProvider, ThemeProvider } from '@mui/material/styles'
import { QueryClientProvider } from '@tanstack/react-query'
import { SnackbarProvider } from 'notistack'
import { createRoot } from 'react-dom/client'
import { Provider } from 'react-redux'
import { BrowserRouter } from 'react-router-dom'
import { ActivitiesRenderer } from '@kinvolk/headlamp-plugin/lib/components/activity/Activity'
import RouteSwitcher, { PreviousRouteProvider } from '@kinvolk/headlamp-plugin/lib/components/App/RouteSwitcher'
import { useCurrentAppTheme } from '@kinvolk/headlamp-plugin/lib/components/App/themeSlice'
import Sidebar from '@kinvolk/headlamp-plugin/lib/components/Sidebar'
import { queryClient } from '@kinvolk/headlamp-plugin/lib/lib/queryClient'
import { setStore } from '@kinvolk/headlamp-plugin/lib/lib/router/createRouteURL'
import { createMuiTheme } from '@kinvolk/headlamp-plugin/lib/lib/themes'
import { setConfig } from '@kinvolk/headlamp-plugin/lib/redux/configSlice'
import { useTypedSelector } from '@kinvolk/headlamp-plugin/lib/redux/hooks'
import store from '@kinvolk/headlamp-plugin/lib/redux/stores/store'

setStore(store)

function Layout() {
  const isLoaded = useTypedSelector((state) => state.plugins.loaded)
  return (
    <Box sx={{ display: 'grid', height: '100dvh', overflow: 'hidden', gridTemplateRows: '1fr min-content', gridTemplateColumns: 'min-content 1fr' }}>
      <Sidebar />
      <Box component="main" sx={{ overflow: 'auto', minHeight: 0, gridColumn: '2 / 3', gridRow: '1 / 2' }}>
        <Container maxWidth="xl" sx={{ height: '100%' }}>{isLoaded && <RouteSwitcher requiresToken={() => false} />}</Container>
      </Box>
      <ActivitiesRenderer />
    </Box>
  )
}

function App() {
  const theme = createMuiTheme(useCurrentAppTheme())
  return (
    <StyledEngineProvider injectFirst>
      <ThemeProvider theme={theme}>
        <CssBaseline enableColorScheme />
        <SnackbarProvider anchorOrigin={{ vertical: 'bottom', horizontal: 'left' }}>
          <BrowserRouter>
            <PreviousRouteProvider>
              <Plugins />
              <Layout />
            </PreviousRouteProvider>
          </BrowserRouter>
        </SnackbarProvider>
      </ThemeProvider>
    </StyledEngineProvider>
  )
}

const config = await (await fetch('/config')).json()
store.dispatch(setConfig({ clusters: Object.fromEntries(config.clusters.map((cluster) => [cluster.name, cluster])) }))
createRoot(document.getElementById('root')).render(
  <Provider store={store}>
    <QueryClientProvider client={queryClient}>
      <App />
    </QueryClientProvider>
  </Provider>,
)
