// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package embeddedetcd

import (
	"sync/atomic"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"k8s.io/klog/v2"
)

// The klog verbosities of the warnings and the informational messages of etcd.
const (
	warningVerbosity = 2
	routineVerbosity = 4
)

// harmlessErrors are the errors that etcd logs in normal operation, each with the situation in which it does.
var harmlessErrors = map[string]string{
	"failed to update storage version": "in a new data directory, before the first term",
}

// etcdLogger writes the logs of etcd to klog: errors always, other messages by verbosity.
type etcdLogger struct {
	logger klog.Logger
	isDown atomic.Bool
}

func newEtcdLogger(logger klog.Logger) *etcdLogger {
	return &etcdLogger{logger: logger}
}

// closing is called before etcd is stopped. From then on, errors are logged like informational messages: etcd reports each listener
// that it closes as a failure to serve.
func (l *etcdLogger) closing() { l.isDown.Store(true) }

func (l *etcdLogger) zap() *zap.Logger { return zap.New(klogCore{etcdLogger: l}) }

// klogCore is a zapcore.Core that writes entries to klog.
type klogCore struct {
	*etcdLogger
	fields []zapcore.Field
}

func (c klogCore) Enabled(level zapcore.Level) bool {
	return level > zapcore.WarnLevel || c.logger.V(verbosity(level)).Enabled()
}

func (c klogCore) With(fields []zapcore.Field) zapcore.Core {
	return klogCore{etcdLogger: c.etcdLogger, fields: append(c.fields[:len(c.fields):len(c.fields)], fields...)}
}

func (c klogCore) Check(entry zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if c.Enabled(entry.Level) {
		return checked.AddCore(entry, c)
	}
	return checked
}

func (c klogCore) Write(entry zapcore.Entry, fields []zapcore.Field) error {
	var failure error
	encoder := zapcore.NewMapObjectEncoder()
	for _, field := range append(c.fields[:len(c.fields):len(c.fields)], fields...) {
		if err, ok := field.Interface.(error); ok && field.Type == zapcore.ErrorType {
			failure = err
			continue
		}
		field.AddTo(encoder)
	}
	keysAndValues := make([]any, 0, 2*len(encoder.Fields)+2)
	for key, value := range encoder.Fields {
		keysAndValues = append(keysAndValues, key, value)
	}
	_, isHarmless := harmlessErrors[entry.Message]
	if entry.Level > zapcore.WarnLevel && !isHarmless && !c.isDown.Load() {
		c.logger.Error(failure, entry.Message, keysAndValues...)
		return nil
	}
	if failure != nil {
		keysAndValues = append(keysAndValues, "err", failure)
	}
	c.logger.V(verbosity(entry.Level)).Info(entry.Message, keysAndValues...)
	return nil
}

func verbosity(level zapcore.Level) int {
	if level < zapcore.WarnLevel {
		return routineVerbosity
	}
	return warningVerbosity
}

func (c klogCore) Sync() error { return nil }
