"""CNI configurations as libcni and the runtimes read them: parsed, judged, and what is wrong with a
folder of them.
"""
