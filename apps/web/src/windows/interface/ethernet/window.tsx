import InterfaceWindow from '../window.tsx';

export default InterfaceWindow;
