// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package dashboard is "kubectl modelbox dashboard": it serves a page on the loopback address that shows the boxes and stacks of a
// namespace. The page reads the cluster through kubectl's own proxy, with the credentials of the user.
package dashboard

import (
	"context"
	"crypto/rand"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/cliutil"
)

// address is the only one that the page is served on.
const address = "127.0.0.1"

// headerTimeout is how long a client may take to send the header of a request.
const headerTimeout = 10 * time.Second

// page is what web/src is built into.
//
//go:embed web/dist
var page embed.FS

// Options are the options of the command.
type Options struct {
	genericiooptions.IOStreams

	// Port is the port of the page. 0 is any that is free.
	Port int

	namespace string
	config    *rest.Config
	factory   cmdutil.Factory
}

// NewCommand returns the command "kubectl modelbox dashboard".
func NewCommand(f cmdutil.Factory, streams genericiooptions.IOStreams) *cobra.Command {
	o := &Options{IOStreams: streams}
	cmd := &cobra.Command{
		Use:                   "dashboard [--port=PORT]",
		DisableFlagsInUseLine: true,
		Short:                 "Show the boxes and stacks of a namespace in a browser",
		Long: "Show the boxes and stacks of a namespace in a browser. The command serves a page on " + address + " until it is interrupted, and " +
			"prints its URL. The page reads the cluster with the credentials of the user. Its URL has a token: any other client is refused.",
		Example: templates.Examples(`
			# Show the boxes and stacks of the current namespace
			kubectl modelbox dashboard

			# Show namespace shop, on port 8080
			kubectl modelbox dashboard --namespace=shop --port=8080`),
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              cliutil.RunE(f, o),
	}
	cmd.Flags().IntVarP(&o.Port, "port", "p", o.Port, "The port on which to serve the page. 0 is any port that is free.")
	cmdutil.CheckErr(cmd.RegisterFlagCompletionFunc("port", cobra.NoFileCompletions))
	return cmd
}

// Complete takes the namespace and the cluster that the command line says.
func (o *Options) Complete(f cmdutil.Factory, _ *cobra.Command, _ []string) error {
	var err error
	if o.namespace, _, err = f.ToRawKubeConfigLoader().Namespace(); err != nil {
		return err
	}
	o.factory = f
	o.config, err = f.ToRESTConfig()
	return err
}

// Validate returns an error for a port or a namespace that cannot be.
func (o *Options) Validate() error {
	if o.Port != 0 {
		if problems := validation.IsValidPortNum(o.Port); len(problems) > 0 {
			return fmt.Errorf("--port %s, not %d", problems[0], o.Port)
		}
	}
	if problems := validation.IsDNS1123Label(o.namespace); len(problems) > 0 {
		return fmt.Errorf("%q is not the name of a namespace: %s", o.namespace, strings.Join(problems, ", "))
	}
	return nil
}

// Run serves the page until the context ends.
func (o *Options) Run(ctx context.Context) error {
	files, err := fs.Sub(page, "web/dist")
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp4", net.JoinHostPort(address, strconv.Itoa(o.Port)))
	if err != nil {
		return err
	}
	defer listener.Close()
	g := &guard{host: listener.Addr().String(), token: rand.Text(), session: rand.Text()}
	api, err := newAPI(o.config, o.namespace)
	if err != nil {
		return err
	}
	usage, err := newUsage(o.config, o.namespace)
	if err != nil {
		return err
	}
	server := &http.Server{
		Handler:           g.protect(newHandler(o.namespace, o.config.Host, api, newLogs(o.factory), usage, files)),
		ReadHeaderTimeout: headerTimeout,
		ErrorLog:          log.New(klogWriter{}, "", 0),
		BaseContext:       func(net.Listener) context.Context { return ctx },
	}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	location := url.URL{Scheme: "http", Host: g.host, Path: "/", RawQuery: url.Values{tokenParameter: {g.token}}.Encode()}
	fmt.Fprintf(o.Out, "Serving the dashboard of namespace %s, until Ctrl-C:\n%s\n", o.namespace, &location)
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// klogWriter logs what a server says of its clients, with -v=2.
type klogWriter struct{}

func (klogWriter) Write(line []byte) (int, error) {
	klog.V(2).Info(strings.TrimSuffix(string(line), "\n"))
	return len(line), nil
}
